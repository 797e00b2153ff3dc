// The first of a row of refusals: see Refusals.h.
#include "crash/Refusals.h"

namespace nvmove::crash {

bool Refusals::isRight(size_t Event, llvm::function_ref<bool(size_t)> IsRight) {
  auto Span = Spans.upper_bound(Event);
  if (Span != Spans.begin() && std::prev(Span)->second >= Event)
    return false;
  if (!Rights.count(Event) && IsRight(Event))
    Rights.insert(Event);
  return Rights.count(Event);
}

size_t Refusals::first(size_t Event, llvm::function_ref<bool(size_t)> IsRight) {
  auto Above = Rights.lower_bound(Event);
  size_t Right = Above == Rights.begin() ? 0 : *std::prev(Above);
  auto Known = Spans.upper_bound(Event);
  if (Known != Spans.begin() && std::prev(Known)->first > Right) { // nothing was right since
    size_t &Last = std::prev(Known)->second;
    Last = std::max(Last, Event);
    return std::prev(Known)->first;
  }
  size_t Refused = Event;
  while (Refused - Right > 1) {
    size_t Middle = Right + (Refused - Right) / 2;
    if (IsRight(Middle)) {
      Rights.insert(Middle);
      Right = Middle;
    } else {
      Refused = Middle;
    }
  }
  Spans[Refused] = std::max(Spans[Refused], Event);
  return Refused;
}

} // namespace nvmove::crash
