// What libnvmove counts in a running process: see include/nvmove/watch.h.
#pragma once

#include "stat/Process.h"

#include "nvmove/watch.h"

#include <memory>

namespace nvmove::stat {

/// An open pool. Its counters are since the opening, or since the last reset.
struct PoolCounts {
  unsigned Number = 0; ///< of the process
  std::string Path, Method, Domain;
  uint64_t Generation = 0;
  uint64_t Mapped = 0; ///< an address where the process has the file
  bool IsReset = false;
  nvm_stats Counted{};
};

class Watch {
public:
  /// The error says that the process does not use libnvmove, or another one than this tool knows.
  static llvm::Expected<Watch> find(Process Of);

  const Process &process() const { return Of; }
  /// Those that the process itself has open: a child of fork has none. Nothing: it is gone.
  std::vector<PoolCounts> pools() const;
  /// The counts of \p Pool begin anew. Threads count on meanwhile. False: the process forbids it, or is gone.
  bool reset(const PoolCounts &Pool) const;

  /// Whether some tool watches.
  bool isWatched() const;
  bool setWatched(bool On) const;
  /// What is counted while somebody watches. Null: the process is gone.
  std::unique_ptr<nvm_watched> watched() const;
  /// Sets all of it to zero.
  bool resetWatched() const;

private:
  Watch(Process Of, const nvm_watch &There) : Of(std::move(Of)), There(There) {}

  std::optional<PoolCounts> pool(unsigned Number) const;
  uint64_t base(unsigned Number) const;

  Process Of;
  nvm_watch There;
};

/// Each counter with its name, in the order in which they are shown.
struct Counter {
  const char *Name, *Meaning;
  uint64_t nvm_stats::*Value;
};
llvm::ArrayRef<Counter> counters();

} // namespace nvmove::stat
