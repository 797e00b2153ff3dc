// Names of members: see MemberName.h. The lines that are read here are those of nvm_type.members.
#include "crash/MemberName.h"

#include "llvm/ADT/SmallVector.h"
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
  auto [Size, Dimensions] = Extent.split('x');
  L.IsArray = !Dimensions.empty();
  while (!Dimensions.empty()) {
    auto [First, Rest] = Dimensions.split('x');
    uint64_t Count = 0;
    if (First.getAsInteger(10, Count))
      return false;
    L.Count *= Count;
    Dimensions = Rest;
  }
  return !Size.getAsInteger(10, L.Size) && L.Size;
}

/// The arrays of records around a line: each has its members behind it, with the offsets of the first
/// element.
class Search {
public:
  explicit Search(uint64_t At) : At(At) {}

  void take(const Line &L) {
    while (!Around.empty() && !L.Name.starts_with((Around.back().Name + "[].").str()))
      leave();
    uint64_t Bytes = L.Count ? L.Size * L.Count : UINT64_MAX;
    bool Has = At >= L.Offset && At - L.Offset < Bytes;
    if (L.Kind == "record" && L.IsArray) {
      uint64_t Index = Has ? (At - L.Offset) / L.Size : 0;
      At -= Index * L.Size;
      Around.push_back({L.Name, L.Size, Index, Has});
    } else if (Has && Name.empty() && (Around.empty() || Around.back().Has)) {
      Name = nameOf(L);
      Size = L.Size;
      Into = (At - L.Offset) % L.Size;
    }
  }

  std::string Name;            ///< empty: no member is there
  uint64_t Size = 0, Into = 0; ///< Into: from its first byte

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

MemberName memberName(const TypedPlace &P) {
  llvm::SmallVector<StringRef> Texts;
  std::vector<Line> Lines;
  P.Members.split(Texts, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Text : Texts)
    if (Line L; parse(Text, L) && L.Kind != "part" && L.Kind != "base")
      Lines.push_back(L);
  bool HasTail = llvm::any_of(Lines, [](const Line &L) { return !L.Count; });
  bool HasMany = !HasTail && P.TypeSize && P.BlockSize >= 2 * P.TypeSize;
  uint64_t Record = HasMany ? P.Inside / P.TypeSize : 0;
  Search Found(P.Inside - Record * P.TypeSize);
  for (const Line &L : Lines)
    Found.take(L);
  if (Found.Name.empty())
    return {llvm::formatv("byte {0} of {1}", P.Inside, P.Type).str(), P.Inside, 1};
  std::string Index = HasMany ? llvm::formatv("[{0}].", Record).str() : "";
  return {llvm::formatv("field {0}{1} of {2}", Index, Found.Name, P.Type).str(),
          P.Inside - Found.Into, Found.Size};
}

} // namespace nvmove::crash
