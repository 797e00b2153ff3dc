// Values on their way from one layout to another: see Plan.h.
#include "pool/Plan.h"

#include <cstring>

namespace nvmove::pool {

namespace {

llvm::Error misfit(const MemberPair &P, const llvm::Twine &Value) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "field " + P.Name + ": " + Value +
                                     " does not fit ('cut' in the map gives up what does not)");
}

__int128 loadInteger(const Member &M, const char *At) {
  unsigned __int128 Bytes = 0;
  memcpy(&Bytes, At, std::min<uint64_t>(M.Size, sizeof Bytes));
  auto Value = static_cast<uint64_t>(Bytes >> M.FirstBit);
  unsigned Bits = bitsOf(M);
  Value &= UINT64_MAX >> (64 - Bits);
  if (isSigned(M.Kind) && Bits < 64 && Value >> (Bits - 1))
    Value |= UINT64_MAX << Bits;
  return isSigned(M.Kind) ? static_cast<__int128>(static_cast<int64_t>(Value))
                          : static_cast<__int128>(Value);
}

long double loadFloat(const Member &M, const char *At) {
  float Single;
  double Double;
  long double Long = 0;
  if (M.Size == sizeof Single)
    return memcpy(&Single, At, sizeof Single), Single;
  if (M.Size == sizeof Double)
    return memcpy(&Double, At, sizeof Double), Double;
  memcpy(&Long, At, std::min<uint64_t>(M.Size, sizeof Long));
  return Long;
}

/// False: the value changes.
bool storeFloat(const Member &M, char *At, long double Value) {
  auto Single = static_cast<float>(Value);
  auto Double = static_cast<double>(Value);
  if (M.Size == sizeof Single)
    memcpy(At, &Single, sizeof Single);
  else if (M.Size == sizeof Double)
    memcpy(At, &Double, sizeof Double);
  else
    memcpy(At, &Value, std::min<uint64_t>(M.Size, sizeof Value));
  long double Now = loadFloat(M, At);
  return Now == Value || Value != Value;
}

llvm::Error convertNumber(const MemberPair &P, const char *From, char *To) {
  bool WasFloat = P.From.Kind == "float", IsFloat = P.To.Kind == "float", Fits;
  long double Float = WasFloat ? loadFloat(P.From, From) : 0;
  constexpr long double Most = 1e37; // below 2^127
  bool IsCountable = !WasFloat || (Float > -Most && Float < Most);
  __int128 Integer = !WasFloat     ? loadInteger(P.From, From)
                     : IsCountable ? static_cast<__int128>(Float)
                                   : 0;
  if (IsFloat)
    Fits = storeFloat(P.To, To, WasFloat ? Float : static_cast<long double>(Integer));
  else
    Fits = storeInteger(P.To, To, Integer) && IsCountable &&
           (!WasFloat || static_cast<long double>(Integer) == Float);
  if (Fits || P.MayCut)
    return llvm::Error::success();
  return misfit(P, WasFloat      ? std::to_string(static_cast<double>(Float))
                   : Integer < 0 ? std::to_string(static_cast<int64_t>(Integer))
                                 : std::to_string(static_cast<uint64_t>(Integer)));
}

llvm::Error convertElement(const MemberPair &P, const char *From, char *To) {
  if (P.HasInner)
    return convertRecord(P.Inner, From, To);
  bool IsSame = P.From.Kind == P.To.Kind && P.From.Size == P.To.Size && !P.From.Bits && !P.To.Bits;
  if (IsSame || P.From.Kind == "pointer") {
    memcpy(To, From, P.From.Size);
    return llvm::Error::success();
  }
  return convertNumber(P, From, To);
}

bool isZero(const char *At, uint64_t Size) {
  return std::all_of(At, At + Size, [](char C) { return !C; });
}

/// What has no place in an array that is shorter.
llvm::Error misfitOf(const MemberPair &P) {
  if (P.From.Dimensions.size() > 1)
    return misfit(P, "what elements hold for which there is no index");
  return misfit(P, "what its last " + llvm::Twine(P.From.Count - P.To.Count) + " elements hold");
}

} // namespace

void storeConstants(const std::vector<Constant> &Constants, const std::vector<MemberPair> &Pairs,
                    char *To) {
  for (const Constant &C : Constants)
    storeInteger(C.To, To + C.To.Offset, C.Value);
  for (const MemberPair &P : Pairs)
    for (uint64_t N = 0; P.HasInner && N < P.To.Count; ++N)
      storeConstants(P.Constants, P.Inner, To + P.To.Offset + N * P.To.Size);
}

bool storeInteger(const Member &M, char *At, __int128 Value) {
  if (!M.Bits && M.Size > sizeof(uint64_t)) {
    memcpy(At, &Value, std::min<uint64_t>(M.Size, sizeof Value));
    return isSigned(M.Kind) || Value >= 0;
  }
  unsigned Bits = bitsOf(M);
  uint64_t Mask = UINT64_MAX >> (64 - Bits), Stored = static_cast<uint64_t>(Value) & Mask;
  if (M.Kind == "bool" && !M.Bits)
    Stored = Value != 0;
  unsigned __int128 Bytes = 0;
  uint64_t Size = std::min<uint64_t>(M.Size, sizeof Bytes);
  memcpy(&Bytes, At, Size);
  Bytes &= ~(static_cast<unsigned __int128>(Mask) << M.FirstBit);
  Bytes |= static_cast<unsigned __int128>(Stored) << M.FirstBit;
  memcpy(At, &Bytes, Size);
  return loadInteger(M, At) == Value;
}

llvm::Error convertRecord(const std::vector<MemberPair> &Pairs, const char *From, char *To) {
  for (const MemberPair &P : Pairs) {
    for (uint64_t N = 0; N < P.From.Count; ++N) {
      const char *Element = From + P.From.Offset + N * P.From.Size;
      std::optional<uint64_t> There = elementIn(P.From, P.To, N);
      llvm::Error E = There ? convertElement(P, Element, To + P.To.Offset + *There * P.To.Size)
                      : P.MayCut || isZero(Element, P.From.Size) ? llvm::Error::success()
                                                                 : misfitOf(P);
      if (E)
        return E;
    }
  }
  return llvm::Error::success();
}

llvm::Error convertTail(const MemberPair &Tail, const char *From, char *To, uint64_t Count) {
  for (uint64_t N = 0; N < Count; ++N) {
    char *Element = To + Tail.To.Offset + N * Tail.To.Size;
    storeConstants(Tail.Constants, Tail.Inner, Element);
    if (llvm::Error E = convertElement(Tail, From + Tail.From.Offset + N * Tail.From.Size, Element))
      return E;
  }
  return llvm::Error::success();
}

} // namespace nvmove::pool
