// Access.h: every access to memory that a function makes, enumerated once and as data.
//
// Logging is the first consumer and takes the writes; tracing, delays and load redirection take the
// same list. An access says where, how many bytes, and what kind of instruction does it; it does
// not say whether the memory may be persistent (Origin.h) or whether a note is needed (Covered.h).
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace nvmove::plugin {

enum class AccessKind {
  Load,
  Store,       ///< scalars, vectors and first-class aggregates, also atomic or volatile ones
  Exchange,    ///< atomic read-modify-write and compare-exchange
  Copy,        ///< memcpy, memmove, memset: one range, perhaps of unknown length
  Masked,      ///< a vector store under a mask; Address is the first lane
  Scatter,     ///< a vector of addresses under a mask
  Compress,    ///< the lanes that the mask selects, one after the other
  Precompiled, ///< call of a function that nobody instrumented: what it writes says an .unsafe file
  Assembly,    ///< inline assembler that is given an address
  Unknown      ///< an intrinsic that writes memory and that this list does not know
};

struct Access {
  llvm::Instruction *At = nullptr;
  AccessKind Kind = AccessKind::Load;
  bool Writes = false;
  llvm::Value *Address = nullptr; ///< a pointer; for Scatter a vector; null: the call's arguments
  uint64_t Size = 0;              ///< bytes; 0: Length says how many, or it is not known
  llvm::Value *Length = nullptr;  ///< bytes, an integer
  llvm::Value *Mask = nullptr;    ///< Masked, Scatter, Compress
  bool Atomic = false;
};

/// Name of the metadata on accesses of volatile fields.
inline constexpr const char *VolatileFieldMark = "nvmove.volatile";

/// The function that a call names, also where it was declared without a prototype (`int read();`)
/// and so has another type than the call.
inline const llvm::Function *namedCallee(const llvm::CallBase &Call) {
  return llvm::dyn_cast<llvm::Function>(Call.getCalledOperand());
}

/// The name of the library's function that \p Call calls; empty: it calls none. The wrappers that system headers put
/// around functions (`extern inline`, _FORTIFY_SOURCE) count as these, as long as they are not inlined.
llvm::StringRef libraryCallee(const llvm::CallBase &Call);

/// Every access of \p F in the order of its instructions. A memcpy is two, a read and a write.
/// \p IsPrecompiled tells which callees nobody instruments.
llvm::SmallVector<Access>
enumerateAccesses(llvm::Function &F,
                  llvm::function_ref<bool(const llvm::CallBase &)> IsPrecompiled);

} // namespace nvmove::plugin
