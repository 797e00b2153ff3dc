// What a local object holds: whether it may lead a function that is given its address to persistent
// memory.
//
// The object is a local variable or fresh memory of malloc, and its contents are what is stored to
// it in this function, in any order. Functions of libraries are taken to put in only what is theirs.
// Any other function that is given the address, and whoever it is stored for, may put in anything;
// that matters where the object has places for pointers.
#pragma once

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstrTypes.h"

namespace nvmove::plugin {

class Contents {
public:
  /// \p IsLibrarys tells the calls of functions of libraries.
  Contents(const llvm::Function &In, const llvm::TargetLibraryInfo &Library, bool GlobalsMayPersist,
           llvm::function_ref<bool(const llvm::CallBase &)> IsLibrarys)
      : In(In), Library(Library), GlobalsMayPersist(GlobalsMayPersist), IsLibrarys(IsLibrarys) {}

  /// Whether what \p Address leads to may hold an address of persistent memory, itself or by
  /// another local object. \p HasPointers: its type in the source says that it has pointers.
  bool mayLead(const llvm::Value *Address, bool HasPointers);

private:
  /// An address into an object.
  struct Part {
    const llvm::Value *Address;
    bool HasPlaces; ///< the object has places for pointers
  };

  void look(const llvm::Value *Address, bool HasPlaces);
  void lookAtObject(const llvm::Value *Object, bool HasPlaces);
  void lookAtUse(const Part &P, const llvm::Use &Of);
  void lookAtCall(const Part &P, const llvm::CallBase &Call, const llvm::Use &Of);
  void lookAtStore(const Part &P, const llvm::Value &Stored, const llvm::Value &To);
  void lookAtStored(const Part &P, const llvm::Value *Stored);
  bool isLibraryMemory(const llvm::Value *Address) const;
  bool mayPersist(const llvm::Value *Address) const;

  const llvm::Function &In;
  const llvm::TargetLibraryInfo &Library;
  bool GlobalsMayPersist;
  llvm::function_ref<bool(const llvm::CallBase &)> IsLibrarys;
  bool Found = false; ///< an address that may be persistent may lie there
  llvm::SmallPtrSet<const llvm::Value *, 16> Seen; ///< objects and addresses into them
  llvm::SmallVector<Part> Parts;                   ///< those to be looked at
};

} // namespace nvmove::plugin
