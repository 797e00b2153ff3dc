// Recovery that is itself interrupted: the process dies at each of its steps, and the next opening
// has to cope with what it left.
//
// On a second memory file, because this recovery must leave something behind. A power failure
// during recovery is left to the library's own tests.
#pragma once

#include "crash/Judge.h"

namespace nvmove::crash {

class InterruptedRecovery {
public:
  static llvm::Expected<std::unique_ptr<InterruptedRecovery>> make(uint64_t Size);
  ~InterruptedRecovery();

  /// Recovers a copy of the image in \p M, killed at its first step, its second, and so on until it
  /// gets through; \p J judges what each left, \p Judged counts. The first verdict that is not
  /// right.
  Judgement judge(Judge &J, const Media &M, uint64_t &Judged);

  /// Some recovery had more steps than it was killed at.
  bool gaveUp() const { return GaveUp; }

private:
  InterruptedRecovery() = default;
  std::string path() const;
  /// True: it was killed.
  bool recover(unsigned Step) const;

  bool GaveUp = false;
  uint64_t Size = 0;
  char *Map = nullptr;
  int Fd = -1;
};

} // namespace nvmove::crash
