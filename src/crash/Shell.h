// A command of the user's, by a shell, that may hang.
#pragma once

#include "crash/Helper.h"

#include "llvm/ADT/StringRef.h"

namespace nvmove::crash {

struct CommandEnd : End {
  bool NotStarted = false; ///< there is no shell, or no process for it
  std::string Said;        ///< empty, or ": " and the first line that it printed
  bool isGood() const { return !Hung && !NotStarted && Status == 0; }
  /// The shell says that there is no such command, or the command says so of another.
  bool isMissing() const;
  /// "ended with status 3", "took more than 5 s".
  std::string text() const;
};

/// \p Line, with what it starts, for at most 5 seconds. What it prints is kept, not shown.
CommandEnd runShell(const std::string &Line);

/// As the shell takes it for one word.
std::string shellWord(llvm::StringRef Word);

/// \p Text with \p To wherever it has \p From.
std::string replaced(std::string Text, const std::string &From, const std::string &To);

} // namespace nvmove::crash
