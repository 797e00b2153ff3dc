// Goes through a trace, builds the states that a crash could leave, and has each judged.
//
// Power: before each fence, every choice of versions for the dirty lines while those are few;
// above, all and none, each line lost alone and kept alone, every moment of the epoch, and a seeded
// sample. Process: after each event that changed the file, all of it. A state that was judged
// before, under the same expectation, is not judged again; one that was left out is counted. Before
// that the rules that need no state: a store that nothing covers, one outside any transaction, one
// that nobody saw.
//
// What it does not do: with several writing threads the program's data is not compared, since which
// states are right depends on their locks; what the kernel reorders in files other than the pool is
// not modelled.
#pragma once

#include "crash/Media.h"

namespace nvmove::crash {

struct Options {
  Model What = Model::Power;
  uint64_t StatesMax = 1000000; ///< then the rest is counted as unexplored
  uint64_t EpochMax = 4096;     ///< choices of one epoch up to which all are taken
  uint64_t Samples = 256;       ///< of an epoch with more
  uint64_t Seed = 1;
  uint64_t InterruptEvery = 256; ///< states whose recovery is killed at each of its steps; 0: none
  std::string Checker, Command;  ///< the user's, as Judge.h has them
};

struct Finding {
  std::string Kind, Message;
  const Site *Where = nullptr; ///< the guilty store, or null
  std::vector<std::pair<const Site *, std::string>> Notes;
  uint64_t Count = 1; ///< how often, at the same place
  size_t Event = 0;   ///< of the trace, where it was found first
};

struct Result {
  std::vector<Finding> Findings;
  uint64_t States = 0, Distinct = 0; ///< judged; images among them
  uint64_t Epochs = 0, Sampled = 0;  ///< between fences; of which not every choice was taken
  uint64_t Omitted = 0;              ///< findings beyond those that are listed
  uint64_t Unexplored = 0;           ///< states that were not judged, for there were too many
  uint64_t Commits = 0, Stores = 0;
  uint64_t Interrupted = 0; ///< recoveries that were killed, and what they left judged
  double Seconds = 0;
  std::vector<std::string> NotDone; ///< what the verdict does not cover

  bool Cut = false; ///< the trace does not have all that the program did

  bool finished() const { return !Unexplored && !Sampled && !Cut; }
};

llvm::Expected<Result> explore(const Trace &T, const Options &O);

} // namespace nvmove::crash
