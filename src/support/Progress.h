// One line of progress on stderr: "[12/57] src/dict.c", or "checking data.pool [####    ]  50%".
//
// Shown only when stderr is a terminal and the work has taken more than a second, so that scripts
// and quick runs never see it; erased when done. Thread-safe. It shows steps, not time left.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
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
  /// So much is done, of a number that need not be the total.
  void show(llvm::StringRef Label, uint64_t Part, uint64_t Whole);
  /// Erases the line.
  void finish();

private:
  bool isDue();
  void draw(const std::string &Line);

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
