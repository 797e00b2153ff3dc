// Checks behind pointer stores: see Checked.h.
#include "Checked.h"

#include "Abi.h"
#include "Frontend.h"
#include "Notes.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

Constant *textOrNull(IRBuilderBase &At, StringRef Text) {
  if (Text.empty())
    return ConstantPointerNull::get(At.getPtrTy());
  return At.CreateGlobalString(Text);
}

/// struct nvm_site for the place of \p Store.
Constant *makeSite(IRBuilderBase &At, const Instruction &Store) {
  Module &M = *At.GetInsertBlock()->getModule();
  std::string File = M.getSourceFileName();
  unsigned Line = 0, Column = 0;
  if (const DILocation *Place = Store.getDebugLoc()) {
    SmallString<128> Path(Place->getFilename());
    if (sys::path::is_relative(Path) && !Place->getDirectory().empty())
      sys::fs::make_absolute(Place->getDirectory(), Path);
    File = Path.str();
    Line = Place->getLine();
    Column = Place->getColumn();
  }
  StringRef Field;
  auto &Known = frontendFacts().AssignedFields;
  auto Found = Known.find(placeKey(File, Line, Column));
  if (Found != Known.end())
    Field = Found->second;
  Constant *Parts[] = {textOrNull(At, File), At.getInt32(Line), At.getInt32(Column),
                       textOrNull(At, Field)};
  Constant *Site = ConstantStruct::getAnon(Parts);
  auto *Made = new GlobalVariable(M, Site->getType(), true, GlobalValue::PrivateLinkage, Site,
                                  "nvmove.site");
  Made->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return Made;
}

} // namespace

void checkStoredPointers(Function &F, ArrayRef<Access> Writes) {
  for (const Access &W : Writes) {
    auto *Store = dyn_cast<StoreInst>(W.At);
    if (!Store || !Store->getValueOperand()->getType()->isPointerTy() ||
        isa<ConstantPointerNull>(Store->getValueOperand()))
      continue;
    Instruction *Next = Store->getNextNode();
    IRBuilder<> At(Next);
    At.SetCurrentDebugLocation(Store->getDebugLoc());
    Value *Persistent = inRange(At, W.Address);
    At.SetInsertPoint(unlikelyBlock(Persistent, Next));
    At.SetCurrentDebugLocation(Store->getDebugLoc());
    callAbi(At, "__nvm_check_pointer", {W.Address, Store->getValueOperand(), makeSite(At, *Store)});
  }
}

} // namespace nvmove::plugin
