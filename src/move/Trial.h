// Kills a ported program, and compares what it knows afterwards with the unchanged program.
//
// State: what the steps of the check print. The unchanged program, which nobody kills, is asked behind
// each step of the workload: that is what the ported one has to know (Reference).
// Life: one pool from its creation on. The workload is done once in a life, with kills in between.
// Acknowledged: the program has given the whole answer to a step; or the step's command has ended well, and
// printed what it prints with the unchanged program.
//
// A kill comes behind a step, within one after a random time, or inside of the library, at the N-th record
// that it appends. Some starts after a kill are killed in their recovery. After a kill behind an
// acknowledged step the state has to be the one behind it; else the one behind it or the one before.
#pragma once

#include "move/Running.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <functional>

namespace nvmove::move {

struct Settings {
  Launch Program;            ///< its folder is filled anew for each life
  std::string Plain, Ported; ///< the folders of both builds
  std::string WorkloadName, CheckName;
  std::vector<Step> Workload, Check;
  std::vector<std::string> Methods = {"undo", "shadow"};
  unsigned Kills = 100; ///< of all methods
  uint64_t Seed = 1;
  bool AnyEnd = false;                           ///< a regular end may change the data
  std::string Pool;                              ///< the file
  std::function<void(const std::string &)> Tell; ///< progress
};

/// What the ported program did otherwise.
struct Difference {
  std::string When; ///< "killed after step 3 (notes.steps:4: add x)"
  std::string What; ///< "the data differ"
  std::string Expected, Got;
  std::string Said;    ///< what the program wrote to its standard error
  std::string Roots{}; ///< what NVMOVE_DEBUG=roots says of an undisturbed life
};

struct MethodResult {
  std::string Method;
  unsigned Survived = 0; ///< kills, with those inside the library and in recovery
  unsigned Inside = 0, InRecovery = 0;
  std::optional<Difference> Lost;     ///< ends the lives with this method
  std::optional<Difference> AfterEnd; ///< behind a regular end; the program may want it so
  std::vector<double> Starts;         ///< seconds, with the data in the pool
};

struct Verdict {
  std::vector<MethodResult> Methods;
  bool PlainLoses = false; ///< the unchanged program, if it is killed after the last step
  std::vector<double> PlainStarts;
  std::vector<std::string> Notes;
  bool isGood() const;
  unsigned kills() const;
};

/// The program has to be there as \p S says. An error if it cannot be tried: what, and what to do.
llvm::Expected<Verdict> tryProgram(const Settings &S);

} // namespace nvmove::move
