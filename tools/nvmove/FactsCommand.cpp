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

llvm::Error failure(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

/// The database with the one command that \p A means.
llvm::Expected<scan::CompileDatabase> openForOne(const Arguments &A) {
  llvm::Expected<scan::CompileDatabase> Database =
      A.DatabasePath.empty() ? scan::commandLineDatabase(A.EmitFacts, A.Flags) : openDatabase(A);
  if (!Database)
    return Database;
  std::string Wanted = support::absolutePath(A.EmitFacts);
  llvm::erase_if(Database->Commands,
                 [&](const scan::CompileCommand &Each) { return Each.File != Wanted; });
  if (Database->Commands.size() == 1)
    return Database;
  if (!Database->Commands.empty())
    return failure(Wanted + " is compiled " + llvm::Twine(Database->Commands.size()) +
                   " times in " + Database->Path + " (for " + Database->Commands[0].Output +
                   " and " + Database->Commands[1].Output +
                   "); give its flags in place of -p: -- FLAGS");
  for (const scan::SkippedSource &Each : Database->Skipped)
    if (Each.File == Wanted)
      return failure(Wanted + ": " + Each.Why);
  return failure(Wanted + " is not in " + Database->Path);
}

} // namespace

int runEmitFacts(const Arguments &A) {
  bool Color = support::wantsColor(A.Color, llvm::errs());
  llvm::errs().enable_colors(Color);
  support::Diagnostics D(llvm::errs(), Color, A.Quiet);
  llvm::Expected<scan::CompileDatabase> Database = openForOne(A);
  if (!Database) {
    D.error(Database.takeError());
    return ExitUsage;
  }
  scan::Scanned Scanned = scan::scanUnits(Database->Commands, {});
  if (Scanned.Units.empty()) {
    for (const scan::FailedUnit &Unit : Scanned.Failed) {
      D.error(Unit.Why, {Unit.File});
      D.verbatim(Unit.Diagnostics);
    }
    return ExitIncomplete;
  }
  Scanned.Inputs.insert(Database->Read.begin(), Database->Read.end());
  if (llvm::Error E = support::refuseInputs({A.Output}, Scanned.Inputs)) {
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
  return Status;
}

} // namespace nvmove::tool
