// --nvmove-redirect: loads and stores of persistent memory become calls.
//
// The methods `lat` and `latb` keep new values elsewhere than in place until they commit. So a store has
// to tell its value, and a load has to ask for it: __nvm_get, __nvm_put, __nvm_copy, __nvm_fill (abi.def)
// stand in place of the instruction, behind the range test. It is done in optimised code, so a value that
// the optimizer keeps in a register is asked for once. The other methods do with these calls what they do
// with a note and an access.
//
// What cannot be a call is made in place, as ever: atomic and volatile accesses, vector accesses under a mask,
// inline assembler, members that nobody notes, and whatever a pre-compiled function reads or writes. In front of it
// stands __nvm_settle, which brings the bytes to their place, or __nvm_settle_all where nobody knows which
// bytes. A function that is called through a pointer may be pre-compiled, too: __nvm_settle_before looks at the eight
// bytes in front of its code, which are the same for all functions that were compiled with the option.
// Around a call that is given a function of the program stand __nvm_call_begin and __nvm_call_end: what that function
// stores goes in place at once. __nvm_settle_all also stands in front of an atomic or volatile store, after which other threads look for what was stored before. Writes among these have their note as well (Instrument.h).
#pragma once

#include "base/UnsafeFile.h"
#include "ir/Access.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// Puts the bytes in front of the functions of \p M by which others know them.
void markRedirected(llvm::Module &M);

/// Instructions, by what becomes of them.
struct RedirectCounts {
  unsigned Loads = 0, Stores = 0, Copies = 0, Settled = 0;

  /// One line, for --nvmove-remarks.
  void summary(const llvm::Module &M, llvm::raw_ostream &OS) const;
};

/// Decides before anything is placed in the function, and places afterwards: settles in front of notes and accesses
/// first, then calls in place of instructions.
class Redirect {
public:
  Redirect(llvm::Function &F, const UnsafeTable &Unsafe, const llvm::TargetLibraryInfo &Library)
      : F(F), Unsafe(Unsafe), Library(Library) {}

  /// Whether the instruction of \p A becomes a call, if its address may be persistent.
  static bool takes(const Access &A);

  void find();
  /// Where accesses happen in place. False: there are none.
  bool settle(RedirectCounts &Made);
  /// False: nothing became a call.
  bool replace(RedirectCounts &Made);

private:
  void findAccess(const Access &A);
  void findCall(llvm::CallBase &Call);

  llvm::Function &F;
  const UnsafeTable &Unsafe;
  const llvm::TargetLibraryInfo &Library;
  llvm::SmallVector<llvm::Instruction *> Moved;    ///< become calls
  llvm::SmallVector<Access> InPlace;               ///< without an address: all of it is settled
  llvm::SmallVector<llvm::CallBase *> Indirect;    ///< through a pointer
  llvm::SmallVector<llvm::CallBase *> CallingBack; ///< what they are given
};

} // namespace nvmove::plugin
