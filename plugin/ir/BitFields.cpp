// Stores that change volatile bit-fields alone: see BitFields.h.
#include "ir/BitFields.h"

#include "base/Frontend.h"
#include "emit/Sites.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace nvmove::plugin {
namespace {

/// Name of the metadata, with the field's bits in the stored unit.
constexpr const char *BitsMark = "nvmove.bits";

constexpr unsigned DepthMax = 6; ///< of the expression that is stored

bool isUnitOf(const StoreInst &Store, const Value *Old) {
  auto *Load = dyn_cast<LoadInst>(Old);
  return Load && Load->getPointerOperand() == Store.getPointerOperand();
}

/// The bits that get a new value when a unit's old one is kept for the rest. None: it is not so.
const APInt *keptBits(const StoreInst &Store) {
  Value *Old;
  const APInt *Kept;
  bool Replaces =
      match(Store.getValueOperand(), m_c_Or(m_And(m_Value(Old), m_APInt(Kept)), m_Value()));
  return Replaces && isUnitOf(Store, Old) ? Kept : nullptr;
}

/// Whether \p V has the unit's own bits where \p Others are set.
bool keeps(const StoreInst &Store, const Value *V, const APInt &Others, unsigned Depth) {
  const Value *A, *B;
  const APInt *Mask;
  if (isUnitOf(Store, V))
    return true;
  if (Depth == DepthMax)
    return false;
  if (match(V, m_And(m_Value(A), m_APInt(Mask))))
    return Others.isSubsetOf(*Mask) && keeps(Store, A, Others, Depth + 1);
  if (!match(V, m_Or(m_Value(A), m_Value(B))) && !match(V, m_Xor(m_Value(A), m_Value(B))))
    return false;
  auto IsNothing = [&](const Value *Part) {
    return MaskedValueIsZero(Part, Others, Store.getDataLayout());
  };
  return (IsNothing(B) && keeps(Store, A, Others, Depth + 1)) ||
         (IsNothing(A) && keeps(Store, B, Others, Depth + 1));
}

} // namespace

bool markBitFields(Module &M) {
  auto &Known = frontendFacts().BitFields;
  if (none_of(Known, [](const auto &Field) { return Field.second; }))
    return false;
  bool Changed = false;
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Store = dyn_cast<StoreInst>(&I);
      const APInt *Kept = Store && I.getDebugLoc() ? keptBits(*Store) : nullptr;
      if (!Kept || !Known.lookup(siteKey(I)))
        continue;
      auto *Bits = ConstantInt::get(M.getContext(), ~*Kept);
      I.setMetadata(BitsMark, MDNode::get(M.getContext(), ConstantAsMetadata::get(Bits)));
      Changed = true;
    }
  return Changed;
}

bool changesVolatileBitsOnly(const Instruction &I) {
  auto *Store = dyn_cast<StoreInst>(&I);
  const MDNode *Mark = Store ? I.getMetadata(BitsMark) : nullptr;
  if (!Mark)
    return false;
  const APInt &Bits = mdconst::extract<ConstantInt>(Mark->getOperand(0))->getValue();
  const Value *Unit = Store->getValueOperand();
  return Unit->getType()->isIntegerTy(Bits.getBitWidth()) && keeps(*Store, Unit, ~Bits, 0);
}

} // namespace nvmove::plugin
