// Recovery that fails in its turn: what it leaves, the next opening has to cope with.
//
// On a second memory file, because this recovery must leave something behind. The process dies at
// its first steps and at ever fewer of those after them; and, in the power model, the power fails
// during it: it is traced as the program's run was, and the states that it can leave are judged.
// Every other one also moves the pool to other addresses, and dies at its first steps of that, too.
#pragma once

#include "crash/Judge.h"
#include "crash/Walk.h"

namespace nvmove::crash {

class Recovery {
public:
  static llvm::Expected<std::unique_ptr<Recovery>> make(uint64_t Size, Model What);
  ~Recovery();

  /// Recovers copies of the image in \p M and lets \p J judge what is left; the first verdict that
  /// is not right. \p Judged counts.
  Judgement judge(Judge &J, const Media &M, uint64_t &Judged);

  /// Something of some recovery was left out.
  bool gaveUp() const { return GaveUp; }

private:
  Recovery() = default;
  std::string path() const;
  /// In a process of its own, with \p Name set to \p Value. True: that was killed.
  bool recover(const char *Name, const std::string &Value) const;
  Judgement judgeKilled(Judge &J, const Media &M, const char *Kind, uint64_t &Judged);
  Judgement judgePower(Judge &J, const Media &M, uint64_t &Judged);
  Judgement judgeTrace(Judge &J, const Trace &T, const Media &M, uint64_t &Judged);

  bool GaveUp = false;
  bool Elsewhere = false; ///< this recovery moves the pool
  Model What = Model::Power;
  std::string TracePath;
  uint64_t Size = 0;
  char *Map = nullptr;
  int Fd = -1;
};

} // namespace nvmove::crash
