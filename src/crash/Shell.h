// A command of the user's, by a shell, that may hang.
#pragma once

#include <string>

namespace nvmove::crash {

struct CommandEnd {
  bool Hung = false;      ///< it took longer, and was ended
  bool CannotRun = false; ///< there is no such command
  int Status = 0;         ///< as wait() gives it
  std::string Said;       ///< the first line that it printed
  bool isGood() const { return !Hung && !CannotRun && Status == 0; }
  /// "ended with status 3: key 4 is missing", "took more than 5 s".
  std::string text() const;
};

/// \p Line, with what it starts, for at most 5 seconds. What it prints is kept, not shown.
CommandEnd runShell(const std::string &Line);

/// \p Text with \p To wherever it has \p From.
std::string replaced(std::string Text, const std::string &From, const std::string &To);

} // namespace nvmove::crash
