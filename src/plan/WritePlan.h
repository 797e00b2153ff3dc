// A plan as a port file (docs/reference/port-file.md): every line says why, questions stand where they
// belong.
#pragma once

#include "plan/Plan.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::plan {

void writePortFile(const Plan &P, llvm::raw_ostream &OS);

} // namespace nvmove::plan
