// One life of a program: from its start to its end, with steps in between.
//
// A program without a command (Launch::Command is empty) is one that each step starts itself: a tool.
// Its steps are commands, and a kill hits the command.
#pragma once

#include "move/Steps.h"

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <sys/types.h>

namespace nvmove::move {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Launch {
  std::string Command;    ///< of the shell; empty: each step starts the program
  std::string Folder;     ///< where it and the steps' commands run
  std::string Errors;     ///< the file that its standard error is added to
  Environment Variables;  ///< of the program; of a tool: of the steps' commands
  bool Terminal = false;  ///< its standard input and output are a terminal
  double SecondsMax = 10; ///< of a start, and of a step
  const volatile std::sig_atomic_t *Interrupted = nullptr; ///< not 0: nothing goes on
};

/// What came of a step.
struct Answer {
  std::string Text; ///< what the program wrote since, and the step's command
  double Seconds = 0;
  bool TookTooLong = false; ///< it did not wait again, or the command did not end
  bool Interrupted = false;
  std::optional<int> Status;  ///< the program has ended: as wait() gives it
  std::optional<int> Command; ///< the same, of the step's command
  /// Whether the command has said that it failed.
  bool hasFailed() const { return Command && *Command; }
};

class Running {
public:
  /// Starts the program and waits until it waits. An error if there is no process for it.
  static llvm::Expected<std::unique_ptr<Running>> start(const Launch &L);
  ~Running();
  Running(const Running &) = delete;
  Running &operator=(const Running &) = delete;

  Answer perform(const Step &S);
  /// Begins \p S, and kills the program \p Seconds later, and a command that still runs.
  Answer performKilled(const Step &S, double Seconds);
  /// Kills all processes of it.
  void kill();
  /// Ends its input, then asks it by SIGTERM, and waits. It is killed if that does not help.
  void end();

  const Answer &started() const { return Start; }
  bool isTool() const { return Own.Command.empty(); }

private:
  explicit Running(const Launch &L) : Own(L) {}
  bool makePipes(int (&Input)[2], int (&Output)[2]);
  bool spawn();
  pid_t spawnCommand(const std::string &Line, int Output);
  bool type(const std::string &Text);
  void read(std::string &Text) const;
  void awaitIdle(Answer &A, uint64_t MoreThan = 0);
  void awaitCommand(pid_t Command, double KillAfter, Answer &A);
  void noteEnd(Answer &A);
  bool hasInput() const;
  bool isInterrupted() const { return Own.Interrupted && *Own.Interrupted; }
  void closeFiles();

  Launch Own;
  Answer Start;
  pid_t Process = 0; ///< 0: none, or it has ended
  std::optional<int> Status;
  int ToIt = -1, FromIt = -1;
};

} // namespace nvmove::move
