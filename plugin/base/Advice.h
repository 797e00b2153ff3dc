// What nvmove says about a place in the source: a warning that stays one with -Werror, so that a
// project which treats its compiler's warnings as errors builds unchanged. Only
// --nvmove-warnings=error makes it an error. -w and --nvmove-warnings=off leave it out.
#pragma once

#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Function.h"

namespace clang {
class DiagnosticsEngine;
}

namespace nvmove::plugin {

/// From here on advice goes to \p Diagnostics, which lives as long as the compilation does.
void adviseThrough(clang::DiagnosticsEngine &Diagnostics);

/// Says \p Message of \p Place in \p F.
void advise(const llvm::Function &F, const llvm::DebugLoc &Place, const llvm::Twine &Message);
/// The same of a place by clang's own number, where there is a front end.
void adviseAt(uint32_t Place, const llvm::Twine &Message);

} // namespace nvmove::plugin
