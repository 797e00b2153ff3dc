// Origins of addresses: see Origin.h.
#include "ir/Origin.h"

#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

Origin originOfObject(const Value *Object, const Function &In, const TargetLibraryInfo &Library,
                      bool GlobalsMayPersist) {
  if (isa<AllocaInst>(Object))
    return Origin::Stack;
  if (auto *A = dyn_cast<Argument>(Object))
    return A->hasPassPointeeByValueCopyAttr() ? Origin::Stack : Origin::MayPersist;
  if (isa<GlobalValue>(Object))
    return GlobalsMayPersist ? Origin::MayPersist : Origin::Global;
  if (isa<ConstantPointerNull>(Object) && NullPointerIsDefined(&In)) // a number from there on
    return Origin::MayPersist;
  if (isa<ConstantPointerNull, UndefValue>(Object))
    return Origin::Null;
  if (auto *Call = dyn_cast<CallBase>(Object))
    if (isVolatileAllocator(*Call, Library))
      return Origin::Heap;
  return Origin::MayPersist;
}

/// By more than a constant: what began as null may be any address, and clang does not make use of that
/// without optimization.
bool isIndexed(const Value *Address) {
  while (auto *GEP = dyn_cast<GEPOperator>(Address)) {
    if (!GEP->hasAllConstantIndices())
      return true;
    Address = GEP->getPointerOperand();
  }
  return false;
}

} // namespace

// Not strdup and its like: many programs have one of their own, in another source, where nothing here tells.
bool isVolatileAllocator(const CallBase &Call, const TargetLibraryInfo &Library) {
  const Function *Callee = Call.getCalledFunction();
  LibFunc Known;
  if (Callee && Callee->getName() == "__cxa_allocate_exception")
    return true;
  if (!Callee || !Callee->isDeclaration() || !Library.getLibFunc(*Callee, Known) ||
      !Library.has(Known))
    return false;
  switch (Known) {
  case LibFunc_malloc:
  case LibFunc_calloc:
    return true;
  case LibFunc_realloc:
    return isa<ConstantPointerNull>(Call.getArgOperand(0));
  default:
    return false;
  }
}

Origin originOf(const Value *Address, const Function &In, const TargetLibraryInfo &Library,
                bool GlobalsMayPersist) {
  if (Address->getType()->getPointerAddressSpace() != 0)
    return Origin::OtherSpace;
  constexpr unsigned Unbounded = 0;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Address, Objects, nullptr, Unbounded);
  Origin Found = Origin::Null;
  for (const Value *Object : Objects) {
    Origin Each = originOfObject(Object, In, Library, GlobalsMayPersist);
    if (Each == Origin::MayPersist)
      return Each;
    if (Each == Origin::Null && isIndexed(Address))
      return Origin::MayPersist;
    if (Each != Origin::Null)
      Found = Each;
  }
  return Found;
}

} // namespace nvmove::plugin
