// Checks behind pointer stores: see Checked.h.
#include "ir/Checked.h"

#include "base/Frontend.h"
#include "emit/Abi.h"
#include "emit/Sites.h"
#include "ir/Notes.h"

#include "nvmove/abi.h"

#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace nvmove::plugin {

namespace {

// A check is some code: of a large array the commit looks at the rest.
constexpr size_t WordsMax = 64;

struct CheckedWord {
  uint64_t Offset;
  std::string Field;
};

void checkBehind(const Access &W, ArrayRef<CheckedWord> Words,
                 function_ref<Value *(IRBuilder<> &, Value *)> StoredAt) {
  IRBuilder<> At(behindIfInRange(*W.At, W.Address));
  for (const CheckedWord &Word : Words) {
    Value *Slot = At.CreateConstInBoundsGEP1_64(At.getInt8Ty(), W.Address, Word.Offset);
    callAbi(At, "__nvm_check_pointer", {Slot, StoredAt(At, Slot), makeSite(At, *W.At, Word.Field)});
  }
}

void addWords(const TypeLayout &Type, uint64_t Begin, SmallVectorImpl<CheckedWord> &Words) {
  for (const FieldLayout &F : Type.Fields)
    if ((F.Kind == NVM_FIELD_POINTER || F.Kind == NVM_FIELD_WEAK_POINTER) && !F.When && !F.Tag)
      for (uint64_t N = 0; N < F.Count && Words.size() < WordsMax; ++N)
        Words.push_back({Begin + F.Offset + N * F.Stride, Type.Name + "." + F.Name});
}

/// The pointers of the records that are copied.
SmallVector<CheckedWord> copiedWords(const Access &W) {
  SmallVector<CheckedWord> Words;
  auto &Known = frontendFacts().CopiedRecords;
  auto Found = isa<MemTransferInst>(W.At) ? Known.find(siteKey(*W.At)) : Known.end();
  if (Found == Known.end() || Found->second.size() != 1) // several copies of one macro
    return Words;
  for (const TypeLayout &Type : frontendFacts().Types)
    if (Type.Id == *Found->second.begin() && Type.Size)
      for (uint64_t At = 0; At + Type.Size <= W.Size && Words.size() < WordsMax; At += Type.Size)
        addWords(Type, At, Words);
  return Words;
}

} // namespace

void checkStoredPointers(Function &F, ArrayRef<Access> Writes) {
  for (const Access &W : Writes) {
    auto *Store = dyn_cast<StoreInst>(W.At);
    if (Store && Store->getValueOperand()->getType()->isPointerTy() &&
        !isa<ConstantPointerNull>(Store->getValueOperand()))
      checkBehind(W, CheckedWord{0, ""},
                  [&](IRBuilder<> &, Value *) { return Store->getValueOperand(); });
    if (SmallVector<CheckedWord> Words = copiedWords(W); !Words.empty())
      checkBehind(W, Words, [](IRBuilder<> &At, Value *Slot) -> Value * {
        return At.CreateAlignedLoad(At.getPtrTy(), Slot, Align(1));
      });
  }
}

} // namespace nvmove::plugin
