// The lines of the source in which a process makes durable updates.
#pragma once

#include "stat/Watch.h"

namespace nvmove::stat {

/// A line of the source, or an address where nobody knows one.
struct StoringLine {
  std::string Function, File; ///< the innermost function; File empty: unknown
  unsigned Line = 0;
  std::string Module; ///< the program or library
  uint64_t Stores = 0, Bytes = 0;
};

/// The lines of all places of \p Seen, those with the most stores first. Reads the debug information of the modules of
/// the process \p Id, which has to be there still.
std::vector<StoringLine> linesOf(const nvm_watched &Seen, const std::vector<Mapping> &Mapped);

} // namespace nvmove::stat
