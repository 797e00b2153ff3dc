// What is done to a program, line by line, and how it is asked what it knows.
//
// Step: one line of a file. A line that begins with "$ " is a command of the shell, which runs in the
// program's folder; the step is done when the command has ended. Any other line is typed into the
// program's standard input; the step is done when the program waits again. Empty lines and lines that
// begin with '#' are no steps. A backslash in front makes any line one that is typed, without it.
#pragma once

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nvmove::move {

struct Step {
  bool IsCommand = false;
  std::string Text;  ///< without "$ " or the backslash
  unsigned Line = 0; ///< of the file, from 1 on
};

/// The steps of the file \p Path. An error, which names the file, if it cannot be read or has none.
llvm::Expected<std::vector<Step>> readSteps(const std::string &Path);

} // namespace nvmove::move
