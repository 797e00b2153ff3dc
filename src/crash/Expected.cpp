// Groups and alternatives: see Expected.h.
#include "crash/Expected.h"

#include <algorithm>
#include <cstring>

namespace nvmove::crash {
namespace {

constexpr size_t MembersMax = 10; ///< two to the power of it alternatives

using Masks = std::map<uint64_t, uint64_t>;

void touchBlocks(Masks &Into, const Data &Lines,
                 const std::vector<std::pair<uint64_t, uint64_t>> &Blocks) {
  for (auto [Place, Bytes] : Blocks)
    for (auto At = Lines.lower_bound(Place / LineSize);
         At != Lines.end() && At->first * LineSize < Place + Bytes; ++At)
      Into[At->first] |= maskOf(At->first, Place, Place + Bytes);
}

Masks touchedBy(const History &H, const Transaction &T) {
  Masks Touched;
  for (const auto &[Line, New] : T.Lines)
    Touched[Line] |= New.Mask;
  touchBlocks(Touched, H.lines(), T.Allocated);
  touchBlocks(Touched, H.lines(), T.Freed);
  return Touched;
}

bool overlap(const Masks &A, const Masks &B) {
  for (const auto &[Line, Mask] : A)
    if (auto Found = B.find(Line); Found != B.end() && Found->second & Mask)
      return true;
  return false;
}

struct Members {
  std::vector<size_t> Numbers; ///< in the order of their COMMIT
  Masks Touched;
};

bool dependOnEachOther(const History &H, const Members &A, size_t N) {
  auto Needs = [&](size_t Who, size_t On) {
    const std::vector<size_t> &All = H.transaction(Who).DependsOn;
    return std::find(All.begin(), All.end(), On) != All.end();
  };
  return std::any_of(A.Numbers.begin(), A.Numbers.end(),
                     [&](size_t Other) { return Needs(Other, N) || Needs(N, Other); });
}

bool isClosed(const History &H, const Members &M, unsigned Subset) {
  for (size_t I = 0; I < M.Numbers.size(); ++I)
    for (size_t On : H.transaction(M.Numbers[I]).DependsOn)
      for (size_t J = 0; J < M.Numbers.size(); ++J)
        if (M.Numbers[J] == On && Subset >> I & 1 && !(Subset >> J & 1))
          return false;
  return true;
}

Alternative alternativeOf(const History &H, const Members &M, unsigned Subset) {
  Alternative Made;
  Data State;
  for (const auto &[Line, Mask] : M.Touched)
    if (auto Found = H.lines().find(Line); Found != H.lines().end()) {
      State[Line] = Found->second;
      State[Line].Mask &= Mask;
    }
  for (size_t I = 0; I < M.Numbers.size(); ++I)
    if (Subset >> I & 1) {
      H.transaction(M.Numbers[I]).apply(State);
      Made.Newest = M.Numbers[I];
    }
  for (const auto &[Line, L] : State)
    if (uint64_t Mask = L.Mask & ~H.unknown(Line)) {
      Made.Lines.push_back({Line, Mask, {}});
      std::memcpy(Made.Lines.back().Bytes, L.Bytes, LineSize);
    }
  return Made;
}

std::vector<Members> membersOf(const History &H) {
  std::vector<Members> All;
  for (size_t N : H.open()) {
    Members Fresh{{N}, touchedBy(H, H.transaction(N))};
    for (auto At = All.begin(); At != All.end();) {
      if (!overlap(At->Touched, Fresh.Touched) && !dependOnEachOther(H, *At, N)) {
        ++At;
        continue;
      }
      Fresh.Numbers.insert(Fresh.Numbers.end(), At->Numbers.begin(), At->Numbers.end());
      for (const auto &[Line, Mask] : At->Touched)
        Fresh.Touched[Line] |= Mask;
      At = All.erase(At);
    }
    std::sort(Fresh.Numbers.begin(), Fresh.Numbers.end());
    All.push_back(std::move(Fresh));
  }
  return All;
}

} // namespace

std::vector<Group> groupsOf(const History &H) {
  std::vector<Group> Result;
  for (Members &M : membersOf(H)) {
    Group Made;
    for (unsigned Subset = 0; M.Numbers.size() <= MembersMax && Subset < 1u << M.Numbers.size();
         ++Subset)
      if (isClosed(H, M, Subset))
        Made.Alternatives.push_back(alternativeOf(H, M, Subset));
    Made.Touched = std::move(M.Touched);
    Result.push_back(std::move(Made));
  }
  return Result;
}

} // namespace nvmove::crash
