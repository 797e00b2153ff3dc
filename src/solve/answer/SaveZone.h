// What the program saves: the record types that the save functions read fields of.
#pragma once

#include "solve/summary/FunctionFlow.h"
#include "solve/summary/Inference.h"

#include <set>

namespace nvmove::solve {

std::set<RecordKey> typesSaved(const Program &P, const Inference &Known, const FunctionFlow &Flow,
                               llvm::ArrayRef<FunctionId> Save);

} // namespace nvmove::solve
