// One line of progress on stderr: "[12/57] src/dict.c".
//
// Shown only when stderr is a terminal and the work has taken more than a second, so that scripts
// and quick runs never see it; erased when done. Thread-safe. It shows steps, not time left.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <cstddef>
#include <mutex>

namespace nvmove::support {

class Progress {
public:
  /// \p Enabled false (--quiet) shows nothing, whatever stderr is.
  Progress(size_t Total, bool Enabled);
  ~Progress() { finish(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// One more of the total is done.
  void step(llvm::StringRef Label);
  /// Erases the line.
  void finish();

private:
  using Clock = std::chrono::steady_clock;
  const size_t Total;
  const bool Enabled;
  size_t Done = 0;
  bool Shown = false;
  const Clock::time_point Start = Clock::now();
  Clock::time_point LastDraw = Start;
  std::mutex Mutex;
};

} // namespace nvmove::support
