// Who stored a byte last.
#pragma once

#include "crash/Trace.h"

namespace nvmove::crash {

struct Guilty {
  const Site *Where = nullptr;
  uint64_t Point = 0;      ///< Where, and the calls that led there
  size_t Event = SIZE_MAX; ///< of the store; SIZE_MAX: there is none
  bool Covered = false;    ///< by a note of the same transaction
  bool Unseen = false;     ///< by code that nothing traced
};

/// The program's stores of a trace, by line.
class Stores {
public:
  explicit Stores(const Trace &T);

  /// Who stored byte \p Place last, before event \p Before.
  Guilty of(uint64_t Place, size_t Before) const;
  /// The last store to \p Line before \p Before that has a place in the source, or null.
  const Site *inLine(uint64_t Line, size_t Before) const;
  /// The last one anywhere.
  const Site *lastBefore(size_t Before) const { return T.site(pointBefore(Before)); }
  /// With the calls that led there; 0: there is none.
  uint64_t pointBefore(size_t Before) const;

private:
  const Trace &T;
  llvm::DenseMap<uint64_t, std::vector<size_t>> ByLine;
};

} // namespace nvmove::crash
