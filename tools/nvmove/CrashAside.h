// The pool that a run has left, out of the way of a second run.
//
// It is renamed, so that it stays the same file: its owner, links and attributes are its own. A copy
// of what was there before the run takes its place. What the second run leaves goes.
#pragma once

#include "crash/Trace.h"

namespace nvmove::tool {

/// One at a time.
class PoolAside {
public:
  /// An error, and nothing is changed: the pool is no longer the file that the run had, its folder may
  /// not be written, it is mounted by itself.
  llvm::Error take(const crash::Trace &T);
  /// The pool is back; an error: it is still aside, and where.
  llvm::Error putBack();
  PoolAside() = default;
  ~PoolAside();
  PoolAside(const PoolAside &) = delete;
  PoolAside &operator=(const PoolAside &) = delete;
};

/// The pool of the first run is back. May be called by the handler of a signal.
void restoreAside();

} // namespace nvmove::tool
