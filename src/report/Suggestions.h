// Prints which functions may load or save the state: for people, and for programs.
#pragma once

#include "solve/Result.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::report {

/// A line each, the best first; then an example of the next command.
void printSuggestionsText(const Suggestions &Found, llvm::raw_ostream &OS);
/// schema_version 1, as printJson (Report.h).
void printSuggestionsJson(const Suggestions &Found, llvm::raw_ostream &OS);

} // namespace nvmove::report
