// Bytes of the pool that changed, and no instrumented code stored them.
#pragma once

#include "crash/Result.h"

#include "llvm/Support/FormatVariadic.h"

namespace nvmove::crash {

/// Neighbouring bytes are one store.
inline bool isPartOfLast(const Trace &T, size_t At) {
  const Event &E = T.Events[At];
  if (!At || T.Events[At - 1].Kind != NVM_TRACE_UNSEEN || T.Events[At - 1].Extra != E.Extra)
    return false;
  const Event &Last = T.Events[At - 1];
  return E.Place > Last.Place && Last.Place + Last.Bytes.size() >= E.Place - 7;
}

/// Of event \p At. \p Before, \p After: where its thread was and will be, or null.
inline Finding unseenStore(const Trace &T, size_t At, const Site *Before, const Site *After) {
  const Event &E = T.Events[At];
  const Site *Where = T.site(E.Extra);
  const char *What = Where ? "this call changed byte {0:x} of the pool by code"
                           : "byte {0:x} of the pool was changed by code";
  Finding F{"unseen store",
            llvm::formatv(What, E.Place).str() +
                " that nothing instruments or describes; a crash can lose or tear it",
            Where,
            {},
            1,
            At};
  if (Where) {
    F.Point = E.Extra;
    return F;
  }
  if (Before)
    F.Notes.push_back({Before, "it happened after this"});
  if (After)
    F.Notes.push_back({After, "and before this"});
  return F;
}

} // namespace nvmove::crash
