// The verdict of Trial.h as text and as JSON.
#pragma once

#include "move/Trial.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::move {

void printVerdict(llvm::raw_ostream &OS, const Verdict &V);
void printVerdictJson(llvm::raw_ostream &OS, const Verdict &V);

} // namespace nvmove::move
