// Members and their values: see Members.h.
#include "pool/Members.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace nvmove::pool {

namespace {

using llvm::StringRef;

/// "8 4 signed key", "12.3 5b unsigned state", "16 1x40 char name", "8 16 part pair:struct pair".
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
    if (Extent.getAsInteger(10, M.Bits) || !M.Bits)
      return std::nullopt;
    M.Size = (M.FirstBit + M.Bits + 7) / 8;
    return M;
  }
  auto [Size, Dimensions] = Extent.split('x');
  M.IsArray = !Dimensions.empty();
  while (!Dimensions.empty()) {
    auto [First, Rest] = Dimensions.split('x');
    if (First.getAsInteger(10, M.Dimensions.emplace_back()))
      return std::nullopt;
    M.Count *= M.Dimensions.back();
    Dimensions = Rest;
  }
  if (Size.getAsInteger(10, M.Size))
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

template <typename T> llvm::json::Value floatValue(const char *At, uint64_t Significant) {
  T Value = read<T>(At);
  if (std::isinf(Value))
    return Value < 0 ? "-Infinity" : "Infinity";
  if (std::isnan(Value)) {
    T Usual = std::copysign(std::numeric_limits<T>::quiet_NaN(), Value);
    if (memcmp(&Usual, At, Significant) == 0)
      return std::signbit(Value) ? "-NaN" : "NaN";
    std::string Bits(At, Significant);
    return "NaN(0x" + llvm::toHex(std::string(Bits.rbegin(), Bits.rend()), /*LowerCase=*/true) +
           ")";
  }
  auto Near = static_cast<double>(Value);
  if (static_cast<T>(Near) == Value)
    return Near;
  char Digits[64];
  snprintf(Digits, sizeof Digits, "%.*Lg", std::numeric_limits<T>::max_digits10,
           static_cast<long double>(Value));
  return std::string(Digits);
}

/// As those of an integer of more than 64 bits: bytes, the lowest first.
llvm::json::Value wideBits(const Member &M, const char *At) {
  std::string Bytes((M.Bits + 7) / 8, '\0');
  for (unsigned Bit = 0; Bit < M.Bits; ++Bit)
    if (unsigned From = M.FirstBit + Bit; At[From / 8] >> From % 8 & 1)
      Bytes[Bit / 8] = static_cast<char>(Bytes[Bit / 8] | 1 << Bit % 8);
  return llvm::toHex(Bytes, /*LowerCase=*/true);
}

llvm::json::Value elementValue(const Member &M, const char *At, NVM_POOL *Pool) {
  StringRef Kind = M.Kind;
  if (M.Bits > 64)
    return wideBits(M, At);
  if (M.Bits) {
    unsigned __int128 Bytes = 0;
    memcpy(&Bytes, At, M.Size);
    uint64_t Value = static_cast<uint64_t>(Bytes >> M.FirstBit) & (UINT64_MAX >> (64 - M.Bits));
    return signedOrNot(Value, M.Bits, Kind == "signed");
  }
  if (Kind == "pointer" || Kind == "function" || Kind == "vtable")
    return pointerValue(readBytes(At, M.Size), Pool);
  if (Kind == "float" && M.Size == sizeof(float))
    return floatValue<float>(At, sizeof(float));
  if (Kind == "float" && M.Size == sizeof(double))
    return floatValue<double>(At, sizeof(double));
  if (Kind == "float" && M.Size == sizeof(long double))
    return floatValue<long double>(At, 10); // the other six bytes are padding
  if (Kind == "bool" && readBytes(At, M.Size) <= 1)
    return readBytes(At, M.Size) == 1;
  if (isInteger(Kind) && M.Size <= 8)
    return signedOrNot(readBytes(At, M.Size), static_cast<unsigned>(M.Size * 8), isSigned(Kind));
  return llvm::toHex(StringRef(At, M.Size), /*LowerCase=*/true);
}

} // namespace

const Part *baseOf(const Member &M, const std::vector<Part> &Parts) {
  const Part *Base = nullptr;
  for (const Part &P : Parts) // one stands before those in it
    if (P.IsBase && M.Offset >= P.Offset && M.Offset - P.Offset < P.Size)
      Base = &P;
  return Base;
}

StringRef recordOf(StringRef Type) {
  for (StringRef More : MoreBehind)
    if (!More.empty() && Type.consume_back(More))
      break;
  return Type;
}

uint64_t firstBit(const Member &M) { return M.Offset * 8 + M.FirstBit; }
uint64_t endBit(const Member &M) {
  return M.IsTail ? UINT64_MAX : firstBit(M) + (M.Bits ? M.Bits : M.Size * M.Count * 8);
}
unsigned bitsOf(const Member &M) {
  return M.Bits ? M.Bits : static_cast<unsigned>(std::min<uint64_t>(M.Size, 8) * 8);
}

bool isCharacter(StringRef Kind) { return Kind == "char" || Kind == "uchar"; }
bool isSigned(StringRef Kind) { return Kind == "signed" || Kind == "char"; }
bool isInteger(StringRef Kind) {
  return Kind == "signed" || Kind == "unsigned" || Kind == "bool" || isCharacter(Kind);
}

namespace {

/// The record that a line of this name belongs to: what belongs to an array of records or unions stands behind it,
/// with the first element's offsets.
struct Around {
  std::vector<Member> &Members;
  std::vector<Part> &Parts;
  Member *Array; ///< null: the whole
};

Around around(Record &Whole, StringRef &Name, uint64_t &Offset) {
  std::vector<Member> *Into = &Whole.Members;
  Member *Array = nullptr;
  while (!Into->empty() && Into->back().IsArray && Name.starts_with(Into->back().Name + "[]")) {
    Array = &Into->back();
    Name = Name.drop_front(Array->Name.size() + 2);
    Name.consume_front(".");
    Offset -= Array->Offset;
    Into = &Array->Inner;
  }
  return {*Into, Array ? Array->Parts : Whole.Parts, Array};
}

/// Whether each record that a member's name has in front lies somewhere.
bool hasParts(const std::vector<Member> &Members, const std::vector<Part> &Parts) {
  return llvm::all_of(Members, [&](const Member &M) {
    auto Dot = M.Name.rfind('.');
    bool IsPart = Dot == std::string::npos || llvm::any_of(Parts, [&](const Part &P) {
                    return !P.IsBase && P.Name == M.Name.substr(0, Dot);
                  });
    return IsPart && hasParts(M.Inner, M.Parts);
  });
}

} // namespace

Record parseRecord(StringRef Lines) {
  Record Whole;
  llvm::SmallVector<StringRef> Each;
  Lines.split(Each, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Each) {
    std::optional<Member> M = parseLine(Line);
    Whole.IsWhole &= M.has_value();
    if (!M)
      continue;
    bool IsPart = M->Kind == "part" || M->Kind == "base";
    auto [Name, Type] =
        IsPart ? StringRef(M->Name).split(':') : std::pair(StringRef(M->Name), StringRef());
    Around In = around(Whole, Name, M->Offset);
    if (!IsPart) {
      M->Name = Name.str();
      In.Members.push_back(std::move(*M));
    } else if (M->Kind == "part" && Name.empty() && In.Array) {
      In.Array->Type = Type.str();
    } else {
      In.Parts.push_back({Name.str(), Type.str(), M->Offset, M->Size, M->Kind == "base"});
    }
  }
  std::vector<Member> &All = Whole.Members;
  if (!All.empty())
    All.back().IsTail = All.back().IsArray && !All.back().Dimensions.front();
  Whole.IsWhole &= hasParts(Whole.Members, Whole.Parts);
  return Whole;
}

llvm::json::Value textOf(StringRef Bytes, Precision How) {
  if (How == Precision::Pointers)
    return nullptr;
  StringRef Text = Bytes.take_until([](char C) { return !C; });
  bool IsText = llvm::json::isUTF8(Text);
  if (IsText && Bytes.find_first_not_of('\0', Text.size()) == StringRef::npos)
    return Text.str();
  if (How == Precision::Readable)
    return llvm::json::fixUTF8(Text);
  llvm::json::Object All{{"bytes", llvm::toHex(Bytes, /*LowerCase=*/true)}};
  if (IsText && !Text.empty())
    All["text"] = Text.str();
  return All;
}

llvm::json::Value valueOf(const Member &M, const char *Record, NVM_POOL *Pool, Precision How) {
  const char *At = Record + M.Offset;
  if (!M.IsArray)
    return elementValue(M, At, Pool);
  if (isCharacter(M.Kind) && M.Size == 1)
    return textOf(StringRef(At, M.Count), How);
  llvm::json::Array Values;
  for (uint64_t N = 0; N < M.Count; ++N) {
    if (M.Inner.empty()) {
      Values.push_back(elementValue(M, At + N * M.Size, Pool));
      continue;
    }
    llvm::json::Object Fields;
    for (const Member &Field : M.Inner)
      Fields[Field.Name] = valueOf(Field, At + N * M.Size, Pool, How);
    Values.push_back(std::move(Fields));
  }
  return Values;
}

} // namespace nvmove::pool
