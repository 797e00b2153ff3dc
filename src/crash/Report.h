// The result of an exploration for people and for programs.
#pragma once

#include "crash/Explorer.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::crash {

/// Findings in clang's form, then one paragraph of what was explored and what was not. \p Replay:
/// a command to which the name of a state is appended, or empty.
void printText(llvm::raw_ostream &OS, bool Color, const Options &O, const Result &R,
               const std::string &Replay);

/// {"schema_version": 1, "model", "findings": [...], "explored": {...}, "not_done": [...]}
void printJson(llvm::raw_ostream &OS, const Options &O, const Result &R, const std::string &Replay);

/// SARIF 2.1.0: a rule for each kind, a result for each finding.
void printSarif(llvm::raw_ostream &OS, const Options &O, const Result &R,
                const std::string &Replay);

} // namespace nvmove::crash
