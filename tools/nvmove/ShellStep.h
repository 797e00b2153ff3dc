// A command of the shell as one step of a longer work: building a program, running it to its end.
#pragma once

#include "llvm/Support/Error.h"

#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace nvmove::tool {

struct ShellStep {
  std::string Line, Folder,
      Output; ///< for a shell; where it runs; the file that gets what it prints
  std::vector<std::pair<const char *, std::string>> Environment; ///< an empty value unsets
};

/// The signal that came since passSignals(); 0: none.
extern volatile std::sig_atomic_t CameSignal;

/// From now on SIGINT, SIGTERM and SIGHUP are noted in CameSignal, and reach the step that runs.
void passSignals();

/// From now on they end this process at once: nothing runs that would have to end first.
void endBySignals();

/// The status as wait() gives it; not 0 if it cannot be started. What runs has a group of its own, which
/// ends with it. A signal that came before starts nothing any more, and one that comes reaches what runs.
int runStep(const ShellStep &S);

/// The end of what a step has printed.
std::string lastLines(const std::string &Path);

/// The path of the program \p Name in bin/ of this installation; an error where there is none.
llvm::Expected<std::string> installedTool(const char *Name);

/// A command that may have quoted words, as $CC: a shell that expands $CC reads no quotes in it. Where it
/// has some it is the path of a script, which lives as long as this.
class OneWord {
public:
  explicit OneWord(std::string Command);
  ~OneWord();
  OneWord(const OneWord &) = delete;
  OneWord &operator=(const OneWord &) = delete;
  const std::string &text() const { return Text; }

private:
  std::string Text, Folder;
};

} // namespace nvmove::tool
