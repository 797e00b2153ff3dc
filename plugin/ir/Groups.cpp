// Notes that share a wait: see Groups.h.
#include "ir/Groups.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// A computation longer than this is not moved: the registers it holds cost more than a wait.
constexpr unsigned MovedMax = 8;

/// Nothing that another thread, or the end of the transaction, can come in through.
bool isQuiet(const Instruction &I) {
  if (I.isAtomic() || I.isVolatile() || !isGuaranteedToTransferExecutionToSuccessor(&I))
    return false;
  return !isa<CallBase>(I) || isa<MemIntrinsic>(I) || isa<DbgInfoIntrinsic>(I) ||
         (isa<IntrinsicInst>(I) && !I.mayReadOrWriteMemory());
}

class BlockGrouper {
public:
  BlockGrouper(BasicBlock &B, const DenseMap<Instruction *, SmallVector<Note>> &NotesAt)
      : B(B), NotesAt(NotesAt) {}

  void run(SmallVector<SmallVector<Note>> &Result) {
    for (Instruction &I : make_early_inc_range(B)) {
      auto Found = NotesAt.find(&I);
      if (Found != NotesAt.end())
        for (const Note &N : Found->second)
          add(N);
      if (!isQuiet(I))
        close(Result);
    }
    close(Result);
  }

private:
  void add(const Note &N) {
    for (SmallVector<Note> &Open : Groups) {
      SmallVector<Instruction *> Moved;
      Instruction *First = Open.front().Before;
      if (!isKnownAt(First, N.Address, Moved) || (N.Length && !isKnownAt(First, N.Length, Moved)))
        continue;
      for (Instruction *I : Moved)
        I->moveBefore(First);
      Open.push_back(N);
      Open.back().Before = First;
      return;
    }
    Groups.push_back({N});
  }

  /// Whether \p V is known before \p First, once \p Moved, in this order, are moved there.
  bool isKnownAt(const Instruction *First, Value *V, SmallVector<Instruction *> &Moved) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || I->getParent() != &B || I->comesBefore(First) || is_contained(Moved, I))
      return true;
    if (isa<PHINode>(I) || I->mayReadOrWriteMemory() || Moved.size() >= MovedMax ||
        !isSafeToSpeculativelyExecute(I))
      return false;
    for (Value *Operand : I->operands())
      if (!isKnownAt(First, Operand, Moved))
        return false;
    Moved.push_back(I);
    return true;
  }

  void close(SmallVector<SmallVector<Note>> &Result) {
    append_range(Result, Groups);
    Groups.clear();
  }

  BasicBlock &B;
  const DenseMap<Instruction *, SmallVector<Note>> &NotesAt;
  SmallVector<SmallVector<Note>> Groups; ///< that later notes of the block may join
};

} // namespace

SmallVector<SmallVector<Note>> groupNotes(Function &F, ArrayRef<Note> Notes) {
  DenseMap<Instruction *, SmallVector<Note>> NotesAt;
  for (const Note &N : Notes)
    NotesAt[N.Before].push_back(N);
  SmallVector<SmallVector<Note>> Result;
  for (BasicBlock &B : F)
    BlockGrouper(B, NotesAt).run(Result);
  return Result;
}

} // namespace nvmove::plugin
