// Plugin.h: what the nvmove compiler plugin is.
//
// One shared object that clang loads twice, as `-fplugin=` and as `-fpass-plugin=`, so that it sees
// the source and the IR of a translation unit in one process. It makes a C program's writes to
// persistent memory visible to libnvmove, before they happen, to the byte.
//
// How. The front-end half (FrontendAction.h) reads the settings, describes each record type
// (Layouts.h) and remembers which functions system headers declare. The early phase (Early.h)
// places transaction boundaries while functions are still whole. The late phase (Late.h) runs when
// the optimizer is done: it enumerates every access (Access.h), asks where each address comes from
// (Origin.h), what is noted already (Covered.h) and what a loop can note at once (LoopNotes.h), and
// places what is left of the notes (Notes.h; the code they expand to is in include/nvmove/abi.h),
// inline or as calls by how often they run (Heat.h).
// With --nvmove-redirect loads and stores become calls instead (Redirect.h).
// Calls of pre-compiled functions are covered by descriptions of what these write (UnsafeFile.h,
// UnsafeCalls.h). Everything skipped is counted by reason (Report.h).
//
// The pass decides, the runtime acts: nothing here knows how a pool is logged or committed.
//
// Link-time optimisation. Notes are placed when an object is compiled, for LTO as for machine code,
// because only then are the source's settings and layouts at hand. What the linker's optimizer does
// later is sound: a note is an opaque call that may read and write the memory behind the address,
// so no store moves above its note, and a merged store writes bytes that were noted one by one. A
// module flag stops any second run. Objects that another compiler made are, as ever, pre-compiled
// code.
//
// What it does not do. It does not see writes of inline assembler, of the kernel and of libraries
// that no .unsafe file describes: the first and the last are warned about, `read` and friends are
// described in libc.unsafe. Atomic read-modify-write is warned about and not logged, because a note
// before it would race. It trusts that an address in the reserved range is only made from such an
// address; code that assembles one from integers is followed only as far as the range test at run
// time, which sees every address it is asked about. Thread-local and global variables are volatile.
#pragma once

#include "llvm/Passes/PassPlugin.h"

namespace nvmove::plugin {

/// The extension points: early at the start of every pipeline, late at the end of its optimizer.
llvm::PassPluginLibraryInfo passPluginInfo();

} // namespace nvmove::plugin
