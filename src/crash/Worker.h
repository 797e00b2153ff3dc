// The judge's other process: what it is given, and what it does with one state (Judge.h).
#pragma once

#include "crash/Judge.h"

#include "nvmove/nvmove.h"

namespace nvmove::crash {

using Check = int (*)(NVM_POOL *);

/// Null: not there, or no function nvm_crash_check in it.
Check loadChecker(const std::string &Path);

/// More of a program's data than this is not compared. Reserved, not touched.
constexpr size_t LinesMax = 1 << 20, GroupsMax = 1024, AlternativesMax = 1 << 14,
                 GroupLinesMax = 1 << 18;

/// In memory that both processes have.
struct Task {
  enum Step { Recovery, Checker };

  char Path[64];                                    ///< of the image
  uint64_t Base;                                    ///< where the program had the pool at first
  size_t Count, GroupCount, AltCount, AltLineCount; ///< of the lists below
  struct {
    uint32_t First, Count; ///< of Alternatives
  } Groups[GroupsMax];
  struct {
    uint32_t First, Count; ///< of AltLines
    size_t Newest;
  } Alternatives[AlternativesMax];
  Wanted AltLines[GroupLinesMax];

  Verdict What;     ///< the answer, and what belongs to it
  volatile Step At; ///< in which a process that died was
  uint64_t Place;
  size_t Newest;
  unsigned char Found, Before, After;
  char Message[512];

  Wanted Lines[LinesMax]; ///< that are the same in all right states
};

/// Opens and judges the image of \p T.
void work(Task &T, Check Checker);

} // namespace nvmove::crash
