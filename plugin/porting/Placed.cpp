// Pointers in place of addresses: see Placed.h.
#include "porting/Placed.h"

#include "porting/Port.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

std::string pointerName(StringRef Variable) { return ("__nvm_at." + Variable).str(); }
std::string nameBefore(StringRef Variable) { return ("__nvm_was." + Variable).str(); }

bool isPlaced(StringRef Variable) {
  Variable.consume_front(nameBefore(""));
  return any_of(portFile()->Roots,
                [&](const port::Root &R) { return R.InPool && R.Name.Name == Variable; });
}

/// A variable whose initialiser has the address; null: none has. Not one that moves to the pool,
/// too: what it holds is set right then.
const GlobalValue *holderOf(const Constant &Address) {
  for (const User *U : Address.users()) {
    if (isa<Instruction>(U))
      continue;
    auto *Holder = dyn_cast<GlobalValue>(U);
    if (!Holder)
      Holder = holderOf(*cast<Constant>(U));
    if (Holder && !Holder->getName().starts_with("llvm.") && !isPlaced(Holder->getName()))
      return Holder;
  }
  return nullptr;
}

/// Defined wherever the variable is, and bound as that is.
GlobalVariable *makePointer(Module &M, GlobalVariable &Variable, StringRef Name) {
  auto *Made = new GlobalVariable(M, Variable.getType(), false, Variable.getLinkage(),
                                  Variable.isDeclaration() ? nullptr : &Variable, pointerName(Name),
                                  nullptr, GlobalValue::NotThreadLocal);
  if (Variable.hasCommonLinkage())
    Made->setLinkage(GlobalValue::WeakAnyLinkage);
  Made->setVisibility(Variable.getVisibility());
  Made->setDSOLocal(Variable.isDSOLocal());
  Made->setAlignment(M.getDataLayout().getPointerABIAlignment(0));
  return Made;
}

/// The variable with as many bytes behind it as pages of its own have, under another name.
GlobalVariable *onOwnPages(Module &M, GlobalVariable &Variable) {
  constexpr uint64_t Page = 4096;
  uint64_t Size = M.getDataLayout().getTypeAllocSize(Variable.getValueType());
  auto *Rest = ArrayType::get(Type::getInt8Ty(M.getContext()), alignTo(Size, Page) - Size);
  auto *Shape = StructType::get(Variable.getValueType(), Rest);
  Constant *Value = Variable.getInitializer();
  Value = Value->isNullValue() ? Constant::getNullValue(Shape)
                               : ConstantStruct::get(Shape, {Value, Constant::getNullValue(Rest)});
  auto *Made = new GlobalVariable(M, Shape, false, Variable.getLinkage(), Value,
                                  nameBefore(Variable.getName()), &Variable);
  Made->copyAttributesFrom(&Variable);
  Made->copyMetadata(&Variable, 0);
  Made->setAlignment(Align(Page));
  Variable.replaceAllUsesWith(Made);
  Variable.eraseFromParent();
  return Made;
}

void redirect(Module &M, GlobalVariable &Variable, StringRef Name) {
  convertUsersOfConstantsToInstructions({&Variable});
  SmallVector<Use *> Uses;
  for (Use &U : Variable.uses())
    if (isa<Instruction>(U.getUser()))
      Uses.push_back(&U);
  GlobalVariable *Pointer = makePointer(M, Variable, Name);
  DenseMap<Instruction *, Value *> AtEnds; // a block that comes to a phi twice brings one value
  for (Use *U : Uses) {
    auto *At = cast<Instruction>(U->getUser());
    auto *Phi = dyn_cast<PHINode>(At);
    At = Phi ? Phi->getIncomingBlock(*U)->getTerminator() : At;
    Value *Known = Phi ? AtEnds.lookup(At) : nullptr;
    if (!Known)
      Known = IRBuilder<>(At).CreateAlignedLoad(Variable.getType(), Pointer, *Pointer->getAlign());
    if (Phi)
      AtEnds[At] = Known;
    U->set(Known);
  }
}

/// Blocks of a pool lie at multiples of that.
constexpr uint64_t BlockAlign = 16;

std::string whyNot(const GlobalVariable &Variable, const port::Entry &E) {
  if (const GlobalValue *Holder = holderOf(Variable))
    return ("its address is in the initialiser of '" + Holder->getName() +
            "'; assign it in a function")
        .str();
  if (Variable.getAlign().valueOrOne().value() > BlockAlign)
    return "its alignment is more than 16 bytes";
  if (E.Written != E.Name && !Variable.hasLocalLinkage() && !Variable.isDeclaration())
    return "other sources see it, too; leave out the source";
  return "";
}

} // namespace

bool redirectPlaced(Module &M) {
  bool Changed = false;
  for (const port::Root &R : portFile()->Roots) {
    GlobalVariable *Variable = R.InPool ? M.getNamedGlobal(R.Name.Name) : nullptr;
    if (!Variable || Variable->isConstant() || Variable->isThreadLocal())
      continue;
    Changed = true;
    if (std::string Why = whyNot(*Variable, R.Name); !Why.empty())
      portError(M.getContext(), R.Name, "'" + R.Name.Written + "' cannot lie in the pool: " + Why);
    else
      redirect(M, Variable->isDeclaration() ? *Variable : *onOwnPages(M, *Variable), R.Name.Name);
  }
  return Changed;
}

GlobalVariable *placeOf(Module &M, StringRef Variable) {
  return M.getNamedGlobal(pointerName(Variable));
}

GlobalVariable *placedBefore(Module &M, StringRef Variable) {
  return M.getNamedGlobal(nameBefore(Variable));
}

} // namespace nvmove::plugin
