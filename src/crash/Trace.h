// The room's nouns, and the trace of a run as data (include/nvmove/trace.h says how it is written).
//
// Trace: what a pool's file went through, in order. Event: one record of it. Line: 64 bytes of the
// file, the unit that a processor writes back. Version: what a line held between two stores to it;
// until a fence guarantees one, a crash may leave any that came since the last guaranteed one.
// Epoch: the events between two fences. State: an image of the file that a crash could leave, one
// version of each line. Model: which states a crash can leave. Verdict: what became of a state when
// the runtime opened it. Finding: a verdict that is wrong, or a rule that the trace breaks, with
// the place in the source that is to blame. Point: a place in the source together with the calls
// that led there.
#pragma once

#include "nvmove/trace.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace nvmove::crash {

constexpr uint64_t LineSize = 64;

/// A place in the program's source.
struct Site {
  std::string File, Field;
  unsigned Line = 0, Column = 0;

  bool operator<(const Site &O) const {
    return std::tie(Line, Column, File, Field) < std::tie(O.Line, O.Column, O.File, O.Field);
  }
};

/// One, and the calls that led to it.
struct Point {
  const Site *Where = nullptr; ///< null: code that nothing instruments, the first of the callers
  std::vector<std::string> Callers = {}; ///< return addresses as module+0xoffset, innermost first
};

struct Event {
  nvm_trace_kind Kind;
  unsigned Thread;
  uint64_t Place, Extra;
  llvm::StringRef Bytes; ///< the payload, in the trace's buffer
  bool Covered = false;  ///< STORE: notes of the same transaction announced all of it
};

struct Trace {
  std::unique_ptr<llvm::MemoryBuffer> Buffer, Image; ///< of the pool when the trace began
  std::vector<Event> Events;                         ///< without OPEN and SITE
  std::set<Site> Sites;
  llvm::DenseMap<uint64_t, Point> Points; ///< by their numbers, which events have in Extra
  std::string PoolPath;
  uint64_t Device = 0, Inode = 0;           ///< of the pool; 0: not known
  uint64_t Base = 0, Size = 0, SizeMax = 0; ///< of the file, at first and at last
  const char *Method = "undo";              ///< of the pool
  bool Apart = false;                       ///< the program's view is not the file (shadow)
  bool Raw = false; ///< of a program that flushes by itself, in any file: no transactions
  std::set<std::string> Shared; ///< files through which the program may tell others by a store
  std::unique_ptr<llvm::MemoryBuffer> Output; ///< what it printed to stdout; null: not known
  bool Cut = false;                           ///< it does not go on to the end
  bool Full = false;                          ///< for it was as long as it may be
  bool Created = false;                       ///< in the run, not opened
  bool Closed = false;                        ///< at the end, or left by exit
  std::optional<int> Status;                  ///< of the program at its end, as wait() gives it
  unsigned Openings = 1, Refused = 0;         ///< Refused: openings again that failed
  unsigned Threads = 0;                       ///< that stored or fenced
  unsigned Children = 0;                      ///< that the process forked
  bool HasSockets = false;                    ///< some that it made
  unsigned OtherOpenings = 0;                 ///< of other pools, that are not in the trace
  std::set<std::string> OtherPools;           ///< those of them that are known
  std::set<std::string> Untraced;             ///< sources that were not compiled for a trace
  std::set<uint64_t> Together; ///< points where a transaction committed that changed both

  const Site *site(uint64_t Number) const {
    auto Found = Points.find(Number);
    return Found == Points.end() ? nullptr : Found->second.Where;
  }
};

/// Whether the file begins as a trace does, of whichever version.
bool isTrace(const std::string &Path);

/// Of a SYNC: how many.
uint64_t bytesOfSync(const Event &E);
/// Of a FREE: its site; 0: not known.
uint64_t siteOfFree(const Event &E);

/// Reads \p Path and \p Path.image. A record that does not fit is an error with its offset.
llvm::Expected<Trace> readTrace(const std::string &Path);

} // namespace nvmove::crash
