// Names of members: see MemberName.h. The lines that are read here are those of nvm_type.members.
#include "crash/MemberName.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <vector>

namespace nvmove::crash {
namespace {

using llvm::StringRef;

struct Line {
  uint64_t Offset = 0, Size = 0, Count = 1; ///< Count 0: as many as the block has
  bool IsArray = false;
  StringRef Kind, Name;
};

/// False: it is no such line.
bool parse(StringRef Text, Line &L) {
  auto [Place, AfterPlace] = Text.split(' ');
  auto [Extent, AfterExtent] = AfterPlace.split(' ');
  std::tie(L.Kind, L.Name) = AfterExtent.split(' ');
  unsigned FirstBit = 0, Bits = 0;
  auto [Offset, Bit] = Place.split('.');
  if (Offset.getAsInteger(10, L.Offset) || (!Bit.empty() && Bit.getAsInteger(10, FirstBit)))
    return false;
  if (Extent.consume_back("b")) {
    L.Size = Extent.getAsInteger(10, Bits) ? 0 : (FirstBit + Bits + 7) / 8;
    return L.Size != 0;
  }
  auto [Size, Count] = Extent.split('x');
  L.IsArray = !Count.empty();
  return !Size.getAsInteger(10, L.Size) && L.Size &&
         (!L.IsArray || !Count.getAsInteger(10, L.Count));
}

/// The arrays of records around a line: each has its members behind it, with the offsets of the first
/// element.
class Members {
public:
  explicit Members(uint64_t At) : At(At) {}

  void take(const Line &L) {
    while (!Around.empty() && !L.Name.starts_with((Around.back().Name + "[].").str()))
      leave();
    uint64_t Bytes = L.Count ? L.Size * L.Count : UINT64_MAX;
    bool Has = At >= L.Offset && At - L.Offset < Bytes;
    if (L.Kind == "record" && L.IsArray) {
      uint64_t Index = Has ? (At - L.Offset) / L.Size : 0;
      At -= Index * L.Size;
      Around.push_back({L.Name, L.Size, Index, Has});
    } else if (Has && (Around.empty() || Around.back().Has)) {
      Found = nameOf(L);
    }
  }

  std::string Found;

private:
  struct Array {
    StringRef Name;
    uint64_t Size, Index;
    bool Has;
  };

  void leave() {
    At += Around.back().Index * Around.back().Size;
    Around.pop_back();
  }

  std::string nameOf(const Line &L) const {
    std::string Made;
    StringRef Rest = L.Name;
    for (const Array &A : Around) {
      auto [Before, After] = Rest.split("[].");
      Made += llvm::formatv("{0}[{1}].", Before, A.Index).str();
      Rest = After;
    }
    Made += Rest;
    return L.IsArray ? llvm::formatv("{0}[{1}]", Made, (At - L.Offset) / L.Size).str() : Made;
  }

  uint64_t At;
  std::vector<Array> Around;
};

} // namespace

std::string memberName(const nvm_type &Type, uint64_t Inside, uint64_t Size) {
  llvm::SmallVector<StringRef> Lines;
  StringRef(Type.members).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  bool HasTail =
      llvm::any_of(llvm::ArrayRef(Type.fields, Type.field_count),
                   [](const nvm_field &F) { return F.kind == NVM_FIELD_FLEXIBLE_ARRAY; });
  bool HasMany = !HasTail && Type.size && Size >= 2 * Type.size;
  Members Search(HasMany ? Inside % Type.size : Inside);
  for (StringRef Text : Lines)
    if (Line L; parse(Text, L))
      Search.take(L);
  std::string Index = HasMany ? llvm::formatv("[{0}]", Inside / Type.size).str() : "";
  if (Search.Found.empty())
    return llvm::formatv("byte {0} of {1}", Inside, Type.name).str();
  return llvm::formatv("field {0}{1}{2} of {3}", Index, HasMany ? "." : "", Search.Found, Type.name)
      .str();
}

} // namespace nvmove::crash
