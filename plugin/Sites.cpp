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

namespace {

struct Place {
  std::string File;
  unsigned Line = 0, Column = 0;
};

Place placeOf(const Instruction &I) {
  Place Found{I.getModule()->getSourceFileName()};
  if (const DILocation *At = I.getDebugLoc()) {
    SmallString<128> Path(At->getFilename());
    if (sys::path::is_relative(Path) && !At->getDirectory().empty())
      sys::fs::make_absolute(At->getDirectory(), Path);
    Found = {Path.str().str(), At->getLine(), At->getColumn()};
  }
  return Found;
}

} // namespace

std::string siteKey(const Instruction &I) {
  Place Found = placeOf(I);
  return placeKey(Found.File, Found.Line, Found.Column);
}

Constant *makeSite(IRBuilderBase &At, const Instruction &I, StringRef Field) {
  Module &M = *At.GetInsertBlock()->getModule();
  auto [File, Line, Column] = placeOf(I);
  auto &Known = frontendFacts().AssignedFields;
  if (auto Found = Known.find(siteKey(I)); Field.empty() && Found != Known.end())
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
