// What a message says of bytes that are wrong: the field and its type, its values, the transactions.
#pragma once

#include "crash/Guilty.h"
#include "crash/Judge.h"
#include "crash/Result.h"
#include "crash/Transactions.h"

namespace nvmove::crash {

/// What is known of a run.
struct Known {
  const Trace &T;
  const History &H; ///< at the moment of which is told
  const Stores &All;
};

/// The message of a torn transaction, and the transactions that have to do with it. \p Image: path of
/// the state; the crash comes at event \p At.
void tellTorn(const Known &K, const Judgement &Said, const std::string &Image, size_t At,
              Finding &F);

/// Of an UNSAFE: the field that holds the pointer, as the runtime knew it then; empty: the trace does
/// not say.
std::string fieldOfUnsafe(const Event &E);

/// To "unordered transactions": the fields, and both transactions.
void tellConflicts(const Known &K, Result &R);

/// "1 byte", "8 bytes".
inline std::string bytesOf(uint64_t Count) {
  return std::to_string(Count) + (Count == 1 ? " byte" : " bytes");
}
/// Empty, or " to " and what the source says is assigned.
inline std::string toField(const Site &S) { return S.Field.empty() ? "" : " to " + S.Field; }

} // namespace nvmove::crash
