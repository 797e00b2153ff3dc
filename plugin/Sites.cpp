// Sites: see Sites.h.
#include "Sites.h"

#include "Frontend.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace nvmove::plugin {

static Constant *textOrNull(IRBuilderBase &At, StringRef Text) {
  if (Text.empty())
    return ConstantPointerNull::get(At.getPtrTy());
  return At.CreateGlobalString(Text);
}

Constant *makeSite(IRBuilderBase &At, const Instruction &I) {
  Module &M = *At.GetInsertBlock()->getModule();
  std::string File = M.getSourceFileName();
  unsigned Line = 0, Column = 0;
  if (const DILocation *Place = I.getDebugLoc()) {
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

} // namespace nvmove::plugin
