// The result of an exploration for people and for programs.
#pragma once

#include "crash/Options.h"
#include "crash/Result.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::crash {

/// Findings in clang's form, then one paragraph of what was explored and what was not.
void printText(llvm::raw_ostream &OS, bool Color, const Options &O, const Result &R);

/// {"schema_version": 1, "model", "findings": [...], "explored": {...}, "not_done": [...]}
void printJson(llvm::raw_ostream &OS, const Options &O, const Result &R);

/// SARIF 2.1.0: a rule for each kind, a result for each finding.
void printSarif(llvm::raw_ostream &OS, const Options &O, const Result &R);

} // namespace nvmove::crash
