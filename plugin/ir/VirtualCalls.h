// Calls of virtual functions that a system header declares. Code names none of them, so the front end notes the place
// of each such call, and the early phase marks the call there with the name of the declared function. The function
// that runs may be another one: of the library, which nobody instrumented, or of the program.
#pragma once

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// In the early phase: before calls are moved and inlined.
bool markVirtualCalls(llvm::Module &M);

/// In the late phase: the module gets the declarations of the functions that calls were marked with.
void declareVirtual(llvm::Module &M);

/// The function that \p Call names, or the virtual one that it is marked with; null: neither.
const llvm::Function *declaredCallee(const llvm::CallBase &Call);

} // namespace nvmove::plugin
