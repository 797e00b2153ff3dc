// Sites: see Sites.h.
#include "emit/Sites.h"

#include "base/Frontend.h"

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

/// \p Of: a DILocation or DISubprogram.
template <typename T> std::string fileOf(const T &Of) {
  SmallString<128> Path(Of.getFilename());
  if (sys::path::is_relative(Path) && !Of.getDirectory().empty())
    sys::fs::make_absolute(Of.getDirectory(), Path);
  return Path.str().str();
}

Place placeOf(const Instruction &I) {
  if (const DILocation *At = I.getDebugLoc())
    return {fileOf(*At), At->getLine(), At->getColumn()};
  return {I.getModule()->getSourceFileName()};
}

/// What the compiler has added has no line: that of what stands before it, or of the function.
Place placeNear(const Instruction &I) {
  for (const Instruction *Near = &I; Near; Near = Near->getPrevNode())
    if (const DILocation *At = Near->getDebugLoc(); At && At->getLine())
      return {fileOf(*At), At->getLine(), At->getColumn()};
  if (const DISubprogram *Whole = I.getFunction()->getSubprogram())
    return {fileOf(*Whole), Whole->getLine(), 0};
  return placeOf(I);
}

} // namespace

std::string siteKey(const Instruction &I) {
  Place Found = placeOf(I);
  return placeKey(Found.File, Found.Line, Found.Column);
}

Constant *makeSite(IRBuilderBase &At, const Instruction &I, StringRef Field) {
  Module &M = *At.GetInsertBlock()->getModule();
  auto [File, Line, Column] = placeNear(I);
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
