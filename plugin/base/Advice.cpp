// Warnings at places in the source: see Advice.h.
//
// clang turns each warning that LLVM's passes report into an error when -Werror is given, and the
// kind whose text is free belongs to no group that -Wno-error= could name. Diagnostics with an
// identity of their own keep their severity; they get the place from the debug information.
//
// IR that is compiled without source has no front end: its warnings are LLVM's, and -Werror holds.
#include "base/Advice.h"

#include "base/Settings.h"

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

clang::DiagnosticsEngine *Engine;

clang::SourceLocation locate(const DIFile *File, unsigned Line, unsigned Column) {
  if (!File || !Line)
    return {};
  clang::SourceManager &Sources = Engine->getSourceManager();
  clang::FileManager &Files = Sources.getFileManager();
  auto Found = Files.getOptionalFileRef(File->getFilename());
  if (!Found) { // with -fdebug-compilation-dir the names are shorter
    SmallString<256> Whole(File->getDirectory());
    sys::path::append(Whole, File->getFilename());
    Found = Files.getOptionalFileRef(Whole);
  }
  return Found ? Sources.translateFileLineCol(*Found, Line, Column ? Column : 1)
               : clang::SourceLocation();
}

/// "a.c:7: " where clang cannot show the place itself; "" where nobody knows it.
std::string spelled(const DIFile *File, unsigned Line) {
  return File && Line ? (File->getFilename() + ":" + Twine(Line) + ": ").str() : "";
}

void report(clang::SourceLocation At, const Twine &Message) {
  if (Engine->getIgnoreAllWarnings() && !settings().WarningsFail)
    return;
  unsigned Id = settings().WarningsFail
                    ? Engine->getCustomDiagID(clang::DiagnosticsEngine::Error, "%0")
                    : Engine->getCustomDiagID(clang::DiagnosticsEngine::Warning, "%0");
  Engine->Report(At, Id) << Message.str();
}

} // namespace

void adviseThrough(clang::DiagnosticsEngine &Diagnostics) { Engine = &Diagnostics; }

void advise(const Function &F, const DebugLoc &Place, const Twine &Message) {
  if (!settings().Warnings)
    return;
  if (!Engine || !Engine->hasSourceManager()) {
    DiagnosticInfoUnsupported Warning(F, Message, Place,
                                      settings().WarningsFail ? DS_Error : DS_Warning);
    F.getContext().diagnose(Warning);
    return;
  }
  const DIFile *File = nullptr;
  unsigned Line = 0, Column = 0;
  if (const DILocation *Exact = Place) {
    File = Exact->getFile();
    Line = Exact->getLine();
    Column = Exact->getColumn();
  } else if (const DISubprogram *Whole = F.getSubprogram()) {
    File = Whole->getFile();
    Line = Whole->getLine();
  }
  clang::SourceLocation At = locate(File, Line, Column);
  report(At, (At.isInvalid() ? spelled(File, Line) : "") + Message);
}

void adviseAt(uint32_t Place, const Twine &Message) {
  if (settings().Warnings && Engine && Engine->hasSourceManager())
    report(clang::SourceLocation::getFromRawEncoding(Place), Message);
}

} // namespace nvmove::plugin
