// The states that are right: see History.h.
#include "crash/History.h"

#include <algorithm>

namespace nvmove::crash {
namespace {

void store(std::map<uint64_t, LineBytes> &Lines, uint64_t Place, llvm::StringRef Bytes) {
  for (size_t I = 0; I < Bytes.size(); ++I)
    Lines[(Place + I) / LineSize].set((Place + I) % LineSize, Bytes[I]);
}

uint64_t maskOf(uint64_t Line, uint64_t From, uint64_t To) {
  uint64_t First = Line * LineSize, Mask = ~uint64_t(0);
  if (From > First)
    Mask &= ~uint64_t(0) << (From - First);
  if (To < First + LineSize)
    Mask &= ~uint64_t(0) >> (First + LineSize - To);
  return Mask;
}

} // namespace

std::vector<Commit> commitsOf(const Trace &T) {
  std::vector<Commit> Result;
  Commit Open;
  for (size_t I = 0; I < T.Events.size(); ++I) {
    const Event &E = T.Events[I];
    switch (E.Kind) {
    case NVM_TRACE_STORE:
    case NVM_TRACE_UNSEEN:
      store(Open.Lines, E.Place, E.Bytes);
      break;
    case NVM_TRACE_ALLOC:
      Open.Allocated.push_back({E.Place, E.Extra});
      break;
    case NVM_TRACE_FREE:
      Open.Freed.push_back({E.Place, E.Extra});
      break;
    case NVM_TRACE_COMMIT:
      Open.End = I;
      Result.push_back(std::move(Open));
      Open = {};
      break;
    case NVM_TRACE_ABORT:
      Open = {};
      break;
    default:
      break;
    }
  }
  return Result;
}

void History::forget(uint64_t Place, uint64_t Bytes) {
  auto At = Lines.lower_bound(Place / LineSize);
  while (At != Lines.end() && At->first * LineSize < Place + Bytes) {
    At->second.Mask &= ~maskOf(At->first, Place, Place + Bytes);
    At = At->second.Mask ? std::next(At) : Lines.erase(At);
  }
}

void History::advance() {
  const Commit &C = Commits[Now++];
  // A block's bytes mean nothing before the program stores them.
  for (auto [Place, Bytes] : C.Allocated)
    forget(Place, Bytes);
  for (const auto &[Line, Changed] : C.Lines) {
    LineBytes &Kept = Lines[Line];
    for (unsigned I = 0; I < LineSize; ++I)
      if (Changed.Mask >> I & 1)
        Kept.set(I, Changed.Bytes[I]);
  }
  for (auto [Place, Bytes] : C.Freed)
    forget(Place, Bytes);
}

} // namespace nvmove::crash
