// Findings as they come, how far the exploration is, and Ctrl-C.
#pragma once

#include "crash/Explorer.h"

#include <chrono>
#include <set>

namespace nvmove::tool {

/// On stderr: a line for each finding when it is new, and on a terminal a line that says how far it
/// is. The first Ctrl-C ends the exploration, and what there is is reported; a second one,
/// SIGTERM and SIGHUP end the command and the checkers that run. One at a time.
class CrashWatch : public crash::Watch {
public:
  /// \p Quiet: nothing is printed. \p FailFast: the first error ends it.
  CrashWatch(bool Quiet, bool FailFast);
  ~CrashWatch() override;

  void found(const crash::Finding &F) override;
  bool goesOn(size_t Event, uint64_t States) override;
  /// Before others print.
  void clearLine();

private:
  bool Quiet, FailFast, HasError = false, HasLine = false;
  size_t Findings = 0;
  std::set<std::string> Told; ///< places and kinds
  std::chrono::steady_clock::time_point Shown;
};

} // namespace nvmove::tool
