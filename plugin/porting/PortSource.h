// What the port file says of allocations, done to the source as it is parsed.
//
// Only the source shows of which type an allocation is and to what it is assigned. So calls of the
// allocators that the file names get their type around the size, ALLOC(__nvm_place(TYPE, n)), and a
// value whose place the file names gets its scope around the whole,
// X = ({ scope = __nvm_scope_enter(SCOPE); value; }), with a cleanup that leaves it (Markers.h). The
// IR half turns these markers into stores to __nvm_placing (PortCode.h). The type comes from the
// size and from the pointer that takes the block (AllocationSize.h). No sizeof and a character pointer: bytes, unless two factors that
// are no constants are multiplied: elements of anything. That is a guess, which a block that is
// made larger does not take over.
#pragma once

#include "frontend/Layouts.h"

#include "clang/AST/DeclGroup.h"

namespace nvmove::plugin {

/// Before code is generated for \p Group.
void rewriteForPort(LayoutBuilder &Layouts, clang::DeclGroupRef Group);

} // namespace nvmove::plugin
