// Members and their values: see Members.h.
#include "pool/Members.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>

namespace nvmove::pool {

namespace {

using llvm::StringRef;

/// "8 4 signed key", "12.3 5b unsigned state", "16 1x40 char name".
std::optional<Member> parseLine(StringRef Line) {
  Member M;
  auto [Place, AfterPlace] = Line.split(' ');
  auto [Extent, AfterExtent] = AfterPlace.split(' ');
  auto [Kind, Name] = AfterExtent.split(' ');
  auto [Offset, FirstBit] = Place.split('.');
  M.Kind = Kind.str();
  M.Name = Name.str();
  if (Offset.getAsInteger(10, M.Offset) ||
      (!FirstBit.empty() && FirstBit.getAsInteger(10, M.FirstBit)))
    return std::nullopt;
  if (Extent.consume_back("b")) {
    if (Extent.getAsInteger(10, M.Bits) || !M.Bits || M.Bits > 64)
      return std::nullopt;
    M.Size = (M.FirstBit + M.Bits + 7) / 8;
    return M;
  }
  auto [Size, Count] = Extent.split('x');
  M.IsArray = !Count.empty();
  if (Size.getAsInteger(10, M.Size) || (M.IsArray && Count.getAsInteger(10, M.Count)))
    return std::nullopt;
  return M;
}

template <typename T> T read(const char *At) {
  T Value;
  memcpy(&Value, At, sizeof Value);
  return Value;
}

uint64_t readBytes(const char *At, uint64_t Size) {
  uint64_t Value = 0;
  memcpy(&Value, At, std::min<uint64_t>(Size, sizeof Value));
  return Value;
}

llvm::json::Value pointerValue(uint64_t Value, NVM_POOL *Pool) {
  if (!Value)
    return nullptr;
  uint64_t Offset = Value - reinterpret_cast<uint64_t>(nvm_pool_base(Pool));
  nvm_info Info;
  if (nvm_pool_info(Pool, &Info) == 0 && Offset <= Info.size)
    return "@0x" + llvm::utohexstr(Offset, /*LowerCase=*/true);
  return "0x" + llvm::utohexstr(Value, /*LowerCase=*/true);
}

llvm::json::Value signedOrNot(uint64_t Value, unsigned Bits, bool IsSigned) {
  if (IsSigned && Bits < 64 && (Value >> (Bits - 1)) % 2)
    Value |= UINT64_MAX << Bits;
  return IsSigned ? llvm::json::Value(static_cast<int64_t>(Value)) : llvm::json::Value(Value);
}

llvm::json::Value elementValue(const Member &M, const char *At, NVM_POOL *Pool) {
  StringRef Kind = M.Kind;
  if (M.Bits) {
    unsigned __int128 Bytes = 0;
    memcpy(&Bytes, At, M.Size);
    uint64_t Value = static_cast<uint64_t>(Bytes >> M.FirstBit) & (UINT64_MAX >> (64 - M.Bits));
    return signedOrNot(Value, M.Bits, Kind == "signed");
  }
  if (Kind == "pointer" || Kind == "function")
    return pointerValue(readBytes(At, M.Size), Pool);
  if (Kind == "float" && M.Size == sizeof(float))
    return read<float>(At);
  if (Kind == "float" && M.Size == sizeof(double))
    return read<double>(At);
  if (Kind == "float" && M.Size == sizeof(long double))
    return static_cast<double>(read<long double>(At));
  if (Kind == "bool")
    return readBytes(At, M.Size) != 0;
  if ((Kind == "signed" || Kind == "unsigned" || Kind == "char") && M.Size <= 8)
    return signedOrNot(readBytes(At, M.Size), static_cast<unsigned>(M.Size * 8),
                       Kind != "unsigned");
  return llvm::toHex(StringRef(At, M.Size), /*LowerCase=*/true);
}

} // namespace

std::vector<Member> parseMembers(StringRef Lines) {
  std::vector<Member> All;
  llvm::SmallVector<StringRef> Each;
  Lines.split(Each, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Each) {
    std::optional<Member> M = parseLine(Line);
    if (!M)
      continue;
    // What belongs to an array of records stands behind it, with the first element's offsets.
    std::vector<Member> *Into = &All;
    uint64_t Base = 0;
    StringRef Name = M->Name;
    while (!Into->empty() && Into->back().Kind == "record" && Into->back().IsArray &&
           Name.starts_with(Into->back().Name + "[].")) {
      Member &Array = Into->back();
      Name = Name.drop_front(Array.Name.size() + 3);
      Base += Array.Offset;
      Into = &Array.Inner;
    }
    M->Name = Name.str();
    M->Offset -= Base;
    Into->push_back(std::move(*M));
  }
  return All;
}

llvm::json::Value valueOf(const Member &M, const char *Record, NVM_POOL *Pool) {
  const char *At = Record + M.Offset;
  if (!M.IsArray)
    return elementValue(M, At, Pool);
  if (M.Kind == "char" && M.Size == 1) {
    std::string Text(At, strnlen(At, M.Count));
    return llvm::json::fixUTF8(Text);
  }
  llvm::json::Array Values;
  for (uint64_t N = 0; N < M.Count; ++N) {
    if (M.Inner.empty()) {
      Values.push_back(elementValue(M, At + N * M.Size, Pool));
      continue;
    }
    llvm::json::Object Fields;
    for (const Member &Field : M.Inner)
      Fields[Field.Name] = valueOf(Field, At + N * M.Size, Pool);
    Values.push_back(std::move(Fields));
  }
  return Values;
}

} // namespace nvmove::pool
