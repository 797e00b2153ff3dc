// Recovery that fails in its turn: what it leaves, the next opening has to cope with.
//
// On a second memory file, because this recovery must leave something behind. The process dies at
// its first steps and at ever fewer of those after them; and, in the power model, the power fails
// during it: it is traced as the program's run was, and the states that it can leave are judged.
// Every other one also moves the pool to other addresses, and dies at its first steps of that, too.
// A recovery that ends in any other way than it is made to (it crashes, hangs, or is refused) is a
// verdict; only what was killed, or lost its power, counts as interrupted.
#pragma once

#include "crash/Judge.h"
#include "crash/Result.h"
#include "crash/Temporary.h"
#include "crash/Walk.h"

#include <functional>

namespace nvmove::crash {

class Recovery {
public:
  static llvm::Expected<std::unique_ptr<Recovery>> make(uint64_t Size, Model What);
  ~Recovery();

  /// Recovers copies of the image in \p M and lets \p J judge what is left; the first verdict that
  /// is not right. \p Moves: to other addresses, too.
  Judgement judge(Judge &J, const Media &M, bool Moves, Interrupted &Count);
  /// The same with a move and without one.
  Judgement judgeBoth(Judge &J, const Media &M, Interrupted &Count);

  /// Asked before each recovery; false: what is left of a state's is left out.
  void goesOnWhile(std::function<bool()> Asked) { GoesOn = std::move(Asked); }

  /// What of some recovery was left out.
  const std::set<std::string> &leftOut() const { return LeftOut; }

private:
  Recovery() = default;
  std::string path() const;
  enum class End { Opened, Killed, Refused, Hung, Other };
  struct Outcome {
    End What;
    std::string Text; ///< behind "recovery"
  };
  /// In a process of its own, with \p Name set to \p Value.
  Outcome recover(const char *Name, const std::string &Value) const;
  Judgement judgeEnd(const Judge &J, const Outcome &How, const std::string &Which) const;
  Judgement judgeKilled(Judge &J, const Media &M, const char *Kind, Interrupted &Count);
  Judgement judgePower(Judge &J, const Media &M, Interrupted &Count);
  Judgement judgeTrace(Judge &J, const Trace &T, const Media &M, Interrupted &Count);
  void leaveOut(const std::string &Text) { LeftOut.insert(Text); }

  std::set<std::string> LeftOut;
  std::function<bool()> GoesOn;
  bool Elsewhere = false; ///< this recovery moves the pool
  Model What = Model::Power;
  TemporaryTrace Traced; ///< of one that loses its power
  uint64_t Size = 0;
  char *Map = nullptr, *Said = nullptr; ///< Said: by the process that recovers
  int Fd = -1;
};

} // namespace nvmove::crash
