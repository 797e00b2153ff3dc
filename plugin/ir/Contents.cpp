// Following the uses of a local object: see Contents.h.
#include "ir/Contents.h"

#include "emit/Abi.h"
#include "ir/Access.h"
#include "ir/Origin.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

bool hasPointers(Type *T) { return T->isPtrOrPtrVectorTy() || any_of(T->subtypes(), hasPointers); }

/// A word or more that was loaded from anywhere: so a copy of a small structure looks.
bool isCopiedWord(const Value *V) {
  constexpr unsigned WordBits = 64;
  return isa<LoadInst>(V) && V->getType()->isIntOrIntVectorTy() &&
         V->getType()->getPrimitiveSizeInBits().getKnownMinValue() >= WordBits;
}

} // namespace

bool Contents::mayLead(const Value *Address, bool HasPointers) {
  Found = false;
  Seen.clear();
  Parts.clear();
  look(Address, HasPointers);
  while (!Parts.empty() && !Found) {
    Part Next = Parts.pop_back_val();
    for (const Use &U : Next.Address->uses())
      lookAtUse(Next, U);
  }
  return Found;
}

bool Contents::mayPersist(const Value *Address) const {
  return originOf(Address, In, Library, GlobalsMayPersist) == Origin::MayPersist;
}

/// \p HasPlaces: it is known that there are places for pointers, whatever the object shows.
void Contents::look(const Value *Address, bool HasPlaces) {
  constexpr unsigned Unbounded = 0;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Address, Objects, nullptr, Unbounded);
  for (const Value *Object : Objects)
    if (Seen.insert(Object).second)
      lookAtObject(Object, HasPlaces);
}

void Contents::lookAtObject(const Value *Object, bool HasPlaces) {
  if (auto *Variable = dyn_cast<GlobalVariable>(Object))
    Found |= !Variable->isConstant() && (HasPlaces || hasPointers(Variable->getValueType()));
  else if (auto *Local = dyn_cast<AllocaInst>(Object))
    Parts.push_back({Local, HasPlaces || hasPointers(Local->getAllocatedType())});
  else if (isa<CallBase>(Object)) // an allocator
    Parts.push_back({Object, HasPlaces});
  else if (isa<Argument>(Object)) // a structure that the caller copied
    Found |= HasPlaces;
}

void Contents::lookAtUse(const Part &P, const Use &Of) {
  const User *User = Of.getUser();
  if (isa<GEPOperator, CastInst, PHINode, SelectInst, FreezeInst>(User) &&
      User->getType()->isPointerTy()) {
    if (Seen.insert(User).second)
      Parts.push_back({User, P.HasPlaces});
  } else if (auto *Store = dyn_cast<StoreInst>(User)) {
    lookAtStore(P, *Store->getValueOperand(), *Store->getPointerOperand());
  } else if (auto *Swap = dyn_cast<AtomicRMWInst>(User)) {
    lookAtStore(P, *Swap->getValOperand(), *Swap->getPointerOperand());
  } else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(User)) {
    lookAtStore(P, *Swap->getNewValOperand(), *Swap->getPointerOperand());
  } else if (auto *Call = dyn_cast<CallBase>(User)) {
    lookAtCall(P, *Call, Of);
  } else if (!isa<LoadInst, CmpInst, ReturnInst>(User)) {
    Found |= P.HasPlaces;
  }
}

void Contents::lookAtCall(const Part &P, const CallBase &Call, const Use &Of) {
  if (auto *Copy = dyn_cast<MemTransferInst>(&Call)) {
    if (Of.getOperandNo() != 0)
      return; // it is read
    if (mayPersist(Copy->getRawSource()))
      Found |= P.HasPlaces;
    else
      look(Copy->getRawSource(), P.HasPlaces);
    return;
  }
  const Function *Callee = namedCallee(Call);
  bool Harmless = isa<IntrinsicInst>(Call) || (Callee && isAbiFunction(*Callee)) ||
                  IsLibrarys(Call) || Call.onlyReadsMemory();
  if (!Harmless && Call.isArgOperand(&Of)) {
    unsigned N = Call.getArgOperandNo(&Of);
    Harmless = Call.onlyReadsMemory(N) && Call.doesNotCapture(N);
  }
  Found |= !Harmless && P.HasPlaces;
}

/// Either something is stored in the object, or its address elsewhere: where that is an object that
/// is looked at itself, nobody learns of it.
void Contents::lookAtStore(const Part &P, const Value &Stored, const Value &To) {
  if (&To == P.Address)
    lookAtStored(P, &Stored);
  else
    Found |= P.HasPlaces && !Seen.contains(getUnderlyingObject(&To));
}

void Contents::lookAtStored(const Part &P, const Value *Stored) {
  if (auto *Number = dyn_cast<PtrToIntOperator>(Stored))
    Stored = Number->getPointerOperand();
  if (Stored->getType()->isPointerTy()) {
    if (!mayPersist(Stored))
      look(Stored, /*HasPlaces=*/false);
    else
      Found |= !isLibraryMemory(Stored);
  } else if (!isa<Constant>(Stored)) {
    Found |= hasPointers(Stored->getType()) || (P.HasPlaces && isCopiedWord(Stored));
  }
}

/// The result of a library's function that was given nothing persistent.
bool Contents::isLibraryMemory(const Value *Address) const {
  auto *Call = dyn_cast<CallBase>(getUnderlyingObject(Address));
  return Call && IsLibrarys(*Call) && none_of(Call->args(), [this](const Value *Argument) {
           return Argument->getType()->isPointerTy() && mayPersist(Argument);
         });
}

} // namespace nvmove::plugin
