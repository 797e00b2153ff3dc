// What the unchanged program answers and knows: see Trial.h.
#pragma once

#include "move/Trial.h"
#include "support/Failed.h"

namespace nvmove::move {

using support::failed;

struct Reference {
  std::vector<std::string> States; ///< before the first step, and behind each
  /// Behind a regular end and a new start. None: what it had done is lost then, too.
  std::optional<std::string> Ended;
  bool AskOnce = false; ///< the check changes data: a life that was asked is over
  std::vector<std::optional<std::string>> Answers; ///< none: two runs do not agree
  std::vector<double> Seconds;                     ///< of each step
};

/// Runs the unchanged program, for \p V also killed. An error if two runs do not give the same answers to
/// the check, or if these show nothing of the workload.
llvm::Expected<Reference> makeReference(const Settings &S, Verdict &V);

/// A fresh copy of \p Tree where the program runs; no pool.
llvm::Error prepareLife(const Settings &S, const std::string &Tree);

/// What the check prints. None: the program has ended, and \p Last says how.
std::optional<std::string> askState(const Settings &S, Running &Program, Answer &Last);

/// "step 3 (notes.steps:4: add x)"
std::string nameOf(const Settings &S, size_t Step);

/// The last lines of the program's standard error; of the library's if there are some. Then it is emptied.
std::string takeErrors(const Settings &S);

} // namespace nvmove::move
