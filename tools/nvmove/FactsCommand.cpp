// nvmove scan --emit-facts and nvmove facts: one translation unit at a time.
#include "nvmove/Commands.h"
#include "nvmove/Inputs.h"

#include "facts/FactsFile.h"
#include "scan/Scanner.h"
#include "support/Files.h"
#include "support/Printable.h"

#include "llvm/Support/MemoryBuffer.h"

namespace nvmove::tool {

namespace {

llvm::Expected<scan::CompileCommand> commandOf(const Arguments &A) {
  if (A.DatabasePath.empty())
    return scan::commandLineDatabase(A.EmitFacts, A.Flags).Commands.front();
  llvm::Expected<scan::CompileDatabase> Database = openDatabase(A);
  if (!Database)
    return Database.takeError();
  std::string Wanted = support::absolutePath(A.EmitFacts);
  for (scan::CompileCommand &Command : Database->Commands)
    if (Command.File == Wanted)
      return std::move(Command);
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 Wanted + " is not in " + Database->Path);
}

} // namespace

int runEmitFacts(const Arguments &A) {
  bool Color = support::wantsColor(A.Color, llvm::errs());
  llvm::errs().enable_colors(Color);
  support::Diagnostics D(llvm::errs(), Color, A.Quiet);
  llvm::Expected<scan::CompileCommand> Command = commandOf(A);
  if (!Command) {
    D.error(Command.takeError());
    return ExitUsage;
  }
  scan::Scanned Scanned = scan::scanUnits(*Command, {});
  if (Scanned.Units.empty()) {
    for (const scan::FailedUnit &Unit : Scanned.Failed) {
      D.error(Unit.Why, {Unit.File});
      D.verbatim(Unit.Diagnostics);
    }
    return ExitIncomplete;
  }
  if (llvm::Error E = refuseInputs({A.Output}, Scanned.Inputs)) {
    D.error(std::move(E));
    return ExitUsage;
  }
  std::string Image = facts::serialise(Scanned.Units.front());
  if (llvm::Error E = support::writeFile(A.Output, [&](llvm::raw_ostream &OS) { OS << Image; })) {
    D.error(std::move(E));
    return ExitUsage;
  }
  return ExitComplete;
}

int runDumpFacts(const Arguments &A) {
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  int Status = ExitComplete;
  for (const std::string &Path : A.Files) {
    auto Image = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
    llvm::Expected<facts::TranslationUnit> Unit =
        Image
            ? facts::deserialise((*Image)->getBuffer(), Path)
            : llvm::Expected<facts::TranslationUnit>(llvm::createFileError(Path, Image.getError()));
    if (Unit) {
      llvm::outs() << support::printable(facts::dump(*Unit));
      continue;
    }
    D.error(Unit.takeError());
    Status = ExitUsage;
  }
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    D.error("standard output: " + llvm::outs().error().message());
    llvm::outs().clear_error();
    Status = ExitUsage;
  }
  return Status;
}

} // namespace nvmove::tool
