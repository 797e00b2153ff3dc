// Stores by line: see Guilty.h.
#include "crash/Guilty.h"

#include <algorithm>

namespace nvmove::crash {

static bool isStore(const Event &E) {
  return E.Kind == NVM_TRACE_STORE || E.Kind == NVM_TRACE_UNSEEN;
}

Stores::Stores(const Trace &T) : T(T) {
  for (size_t I = 0; I < T.Events.size(); ++I) {
    const Event &E = T.Events[I];
    if (!isStore(E) || E.Bytes.empty())
      continue;
    for (uint64_t Line = E.Place / LineSize; Line <= (E.Place + E.Bytes.size() - 1) / LineSize;
         ++Line)
      ByLine[Line].push_back(I);
  }
}

Guilty Stores::of(uint64_t Place, size_t Before) const {
  auto Found = ByLine.find(Place / LineSize);
  if (Found == ByLine.end())
    return {};
  const std::vector<size_t> &All = Found->second;
  for (auto At = std::lower_bound(All.begin(), All.end(), Before); At != All.begin();) {
    const Event &E = T.Events[*--At];
    if (Place >= E.Place && Place < E.Place + E.Bytes.size())
      return {T.site(E.Extra), E.Extra, *At, E.Covered, E.Kind == NVM_TRACE_UNSEEN};
  }
  return {};
}

const Site *Stores::inLine(uint64_t Line, size_t Before) const {
  auto Found = ByLine.find(Line);
  if (Found == ByLine.end())
    return nullptr;
  const std::vector<size_t> &All = Found->second;
  for (auto At = std::lower_bound(All.begin(), All.end(), Before); At != All.begin();)
    if (const Site *Where = T.site(T.Events[*--At].Extra))
      return Where;
  return nullptr;
}

uint64_t Stores::pointBefore(size_t Before) const {
  for (size_t I = std::min(Before, T.Events.size()); I-- > 0;)
    if (T.Events[I].Kind == NVM_TRACE_STORE && T.site(T.Events[I].Extra))
      return T.Events[I].Extra;
  return 0;
}

} // namespace nvmove::crash
