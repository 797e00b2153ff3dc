// What is found out about a run: findings, and how much was looked at.
#pragma once

#include "crash/Trace.h"

#include <list>
#include <string>
#include <utility>
#include <vector>

namespace nvmove::crash {

/// How often a recovery failed in its turn, and what it left was judged.
struct Interrupted {
  uint64_t All = 0, Moves = 0; ///< Moves: killed while the pool was moved
  uint64_t Stayed = 0;         ///< openings elsewhere that were refused: the pool cannot be moved
};

/// Where else a finding was found: at the same place, but other calls had led there.
struct OtherCalls {
  uint64_t Point = 0, Number = 0; ///< as Finding has them
};

struct Finding {
  std::string Kind, Message;
  const Site *Where = nullptr; ///< the guilty store, call or commit, or null
  std::vector<std::pair<const Site *, std::string>> Notes = {};
  uint64_t Count = 1; ///< how often, at the same place
  size_t Event = 0;   ///< of the trace, where it was found first
  bool IsWarning = false;
  uint64_t Point = 0; ///< of the trace: Where, and the calls that led there; 0: not known
  std::vector<std::pair<Site, std::string>> Callers = {}; ///< of it, the innermost first
  std::string State = {};  ///< the smallest that fails; empty: found without one
  std::string Key = {};    ///< the message without what varies; empty: it is the message
  std::string Replay = {}; ///< a command that shows State again; empty: there is none
  std::string Method = {}; ///< with which it was found, where there were several runs
  uint64_t Number = 0;     ///< of the state in which it was found first (Share.h)
  std::vector<OtherCalls> Others = {}; ///< the first of them, in the order of their states
};

/// A call that was to commit, and undid the transaction.
struct FailedCommit {
  const Site *Where = nullptr;
  uint64_t Error = 0; ///< enum nvm_error
};

struct Result {
  std::vector<Finding> Findings;
  std::vector<FailedCommit> Failed;
  std::list<Site> Places;            ///< of findings, which the trace does not have
  uint64_t States = 0, Distinct = 0; ///< judged; images among them
  uint64_t Epochs = 0, Sampled = 0;  ///< between fences; of which not every choice was taken
  uint64_t Skipped = 0;              ///< epochs at failure points that were explored before
  uint64_t FailurePoints = 0;        ///< different ones (FailurePoints.h)
  uint64_t Omitted = 0;              ///< findings beyond those that are listed
  uint64_t Unexplored = 0;           ///< states that were not judged, for there were too many
  uint64_t Possible = 0;             ///< states that the last look takes, some of them twice
  uint64_t Commits = 0, Stores = 0, Threads = 0;
  Interrupted Recoveries;         ///< that failed in their turn
  uint64_t Refused = 0, Lost = 0; ///< disk: not opened; opened with other data than is right
  double Seconds = 0;
  std::string Method; ///< of the library in the run: undo, shadow, or "undo and shadow"
  std::vector<std::string> NotDone; ///< what the verdict does not cover
  std::string Ended;                ///< how, where the program failed: there is no verdict

  unsigned Looks = 0;          ///< that were gone to their end (Share.h)
  size_t StoppedAt = SIZE_MAX; ///< the event at which a look was stopped
  unsigned Hangs = 0;          ///< of the checker
  bool TimeUp = false;         ///< it was stopped, for it had all its time
  bool CommandFails = false;   ///< the user's, to be run at all
  bool Cut = false;            ///< the trace does not have all that the program did
  bool Raw = false;            ///< of a program that flushes by itself: the checker alone judges
  bool LocksUnseen = false;    ///< so the order between threads is not known
  bool Unclosed = false;       ///< nobody closed the pool: it was not compared at the end

  bool finished() const {
    return !Unexplored && !Sampled && !Skipped && !Cut && !Unclosed && !TimeUp;
  }
  bool hasErrors() const;
};

} // namespace nvmove::crash
