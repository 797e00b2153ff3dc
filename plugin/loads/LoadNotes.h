// --nvmove-loads in a program with pools: a call in front of each load that may read persistent memory.
//
// An announced load is the counterpart of a note: "these bytes are about to be read". What the call does
// is the runtime's matter (abi.def, __nvm_load). Loads that an address shows to be of volatile memory
// are left out, as for notes (Origin.h). In optimised code (`optimized`) so are loads whose bytes were
// announced on every path to them (Covered.h), and a loop over touching bytes is announced once, in
// front of it (LoopNotes.h). `source` announces each load that the source has.
//
// A filter may leave out more: what does not go through the types of --emulate-types (emulation/Marks.h).
//
// Not announced: vector loads under a mask, gathers, loads by intrinsics of a processor, inline assembler,
// and what a called function reads by itself if no .unsafe file says it.
#pragma once

#include "ir/LoopNotes.h"
#include "unsafe/UnsafeCalls.h"

#include "llvm/Analysis/TargetLibraryInfo.h"

namespace nvmove::plugin {

/// Sites, by what becomes of them.
struct LoadCounts {
  unsigned Announced = 0, Once = 0, Covered = 0, Volatile = 0, OfCalls = 0, Others = 0;

  /// One line, for --nvmove-remarks.
  void summary(const llvm::Module &M, llvm::raw_ostream &OS) const;
};

/// Whether an access is to be announced, if its address may be persistent. Also asked for an argument of a
/// described call, as the address of an access at that call.
using LoadFilter = llvm::function_ref<bool(const Access &)>;

/// Before optimisation: announces every load.
void announceSourceLoads(llvm::Function &F, const UnsafeTable &Unsafe,
                         const llvm::TargetLibraryInfo &Library, LoadFilter Wants,
                         LoadCounts &Made);

/// In optimised code. Decides before anything is placed in the function, and places afterwards.
class LoadNotes {
public:
  /// \p Wants lives as long.
  LoadNotes(llvm::Function &F, const UnsafeTable &Unsafe, const llvm::TargetLibraryInfo &Library,
            LoadFilter Wants)
      : F(F), Unsafe(Unsafe), Library(Library), Wants(Wants) {}

  void find(const Commits &MayCommit, const LoopAnalyses &Analyses, LoadCounts &Made);
  /// False: there was nothing to announce.
  bool place(LoadCounts &Made);

private:
  llvm::Function &F;
  const UnsafeTable &Unsafe;
  const llvm::TargetLibraryInfo &Library;
  LoadFilter Wants;
  llvm::SmallVector<Note> Notes;
};

} // namespace nvmove::plugin
