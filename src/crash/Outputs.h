// Outputs of a thread whose stores are not committed: whoever reads them takes for done what a crash
// undoes.
#pragma once

#include "crash/Result.h"

namespace nvmove::crash {

/// Nothing, where event \p At is for people, or nobody knows who made it. \p First: of the stores that
/// are not committed; \p Last: where the thread was last, or null. What code that nothing instruments
/// writes has no place but its callers (Callers.h).
inline std::optional<Finding> outputBeforeCommit(const Trace &T, size_t At, const Site *First,
                                                 const Site *Last) {
  constexpr uint64_t Stderr = 2;
  const Event &E = T.Events[At];
  auto Found = T.Points.find(E.Extra);
  if (E.Place == Stderr || Found == T.Points.end())
    return std::nullopt;
  const Point &By = Found->second;
  Finding F{"output before commit",
            "this leaves the process while stores are not committed: after a crash they never "
            "happened",
            By.Where,
            {{First, "the first of those stores"}},
            1,
            At};
  F.Point = E.Extra;
  if (By.Where)
    return F;
  F.Message += "; code that nothing instruments does it";
  F.Key = By.Callers.empty() ? "" : By.Callers.front();
  if (Last)
    F.Notes.push_back({Last, "it happened after this"});
  return F;
}

} // namespace nvmove::crash
