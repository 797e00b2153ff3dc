// Gathers the inputs of a scan: see Inputs.h.
#include "nvmove/Inputs.h"

#include "facts/FactsFile.h"
#include "scan/Scanner.h"
#include "solve/answer/Solve.h"
#include "support/Files.h"
#include "support/Printable.h"
#include "support/Process.h"
#include "support/Progress.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <glob.h>

namespace nvmove::tool {

namespace {

/// Clang's own text is shown for this many failing files; a wrong -p makes hundreds.
constexpr size_t ExplainedFailuresMax = 3;

/// The last folder of the tree that holds \p Folder, without the names that say nothing.
std::string treeName(llvm::StringRef Folder) {
  while (llvm::sys::path::filename(Folder) == "build" || llvm::sys::path::filename(Folder) == "src")
    Folder = llvm::sys::path::parent_path(Folder);
  return llvm::sys::path::filename(Folder).str();
}

/// The folder that all main files share.
std::string commonFolder(const std::vector<facts::TranslationUnit> &Units) {
  llvm::StringRef Common =
      Units.empty() ? llvm::StringRef() : llvm::sys::path::parent_path(Units.front().MainFile);
  for (const facts::TranslationUnit &Unit : Units)
    while (!Common.empty() && Common != "/" &&
           !llvm::StringRef(Unit.MainFile).starts_with((Common + "/").str()))
      Common = llvm::sys::path::parent_path(Common);
  return Common.str();
}

void reportFailures(const std::vector<scan::FailedUnit> &Failed, const Arguments &A,
                    support::Diagnostics &D) {
  size_t Explained = 0;
  for (const scan::FailedUnit &Unit : Failed) {
    std::string Text = Unit.Why + "; skipped";
    if (A.KeepGoing)
      D.warning(Text, {Unit.File});
    else
      D.error(Text, {Unit.File});
    if (Unit.Diagnostics.empty() || (Explained++ >= ExplainedFailuresMax && !A.Verbose))
      continue;
    D.verbatim(Unit.Diagnostics);
    if (llvm::StringRef(Unit.Diagnostics).contains("file not found"))
      D.note("headers are missing: is the tree configured, are its generated headers built, are "
             "the packages it needs installed?");
  }
  if (Explained > ExplainedFailuresMax && !A.Verbose)
    D.note("the compiler's messages are shown for the first " + llvm::Twine(ExplainedFailuresMax) +
           " files; -v shows all");
}

/// A pattern that is the name of a file means that file. Each matches something.
llvm::Expected<std::vector<std::string>> expandGlobs(const std::vector<std::string> &Globs) {
  std::vector<std::string> Paths;
  for (const std::string &Pattern : Globs) {
    glob_t Found;
    int Failed = ::glob(Pattern.c_str(), GLOB_TILDE, nullptr, &Found);
    if (!Failed)
      Paths.insert(Paths.end(), Found.gl_pathv, Found.gl_pathv + Found.gl_pathc);
    else if (llvm::sys::fs::exists(Pattern))
      Paths.push_back(Pattern);
    ::globfree(&Found);
    if (Failed && (Paths.empty() || Paths.back() != Pattern))
      return llvm::createStringError(llvm::inconvertibleErrorCode(), "no file matches " + Pattern);
  }
  return Paths;
}

llvm::Expected<facts::TranslationUnit> readFacts(const std::string &Path) {
  auto Image = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!Image)
    return llvm::createFileError(Path, Image.getError());
  return facts::deserialise((*Image)->getBuffer(), Path);
}

/// Recorded facts name the sources that they come from.
void noteSources(Inputs &In) {
  for (const facts::TranslationUnit &Unit : In.Units) {
    In.Read.insert(Unit.MainFile);
    for (const facts::Record &Record : Unit.Records)
      In.Read.insert(Unit.text(Record.Where.File));
    for (const facts::Symbol &Symbol : Unit.Symbols)
      In.Read.insert(Unit.text(Symbol.Where.File));
  }
}

llvm::Expected<Inputs> gatherFacts(const Arguments &A, support::Diagnostics &D) {
  llvm::Expected<std::vector<std::string>> Paths = expandGlobs(A.FactsGlobs);
  if (!Paths)
    return Paths.takeError();
  Inputs In;
  for (const std::string &Path : *Paths) {
    In.Read.insert(Path);
    llvm::Expected<facts::TranslationUnit> Unit = readFacts(Path);
    if (Unit) {
      In.Units.push_back(std::move(*Unit));
      continue;
    }
    std::string Why = toString(Unit.takeError());
    D.error(Why + "; skipped");
    In.Skipped.push_back({Path, Why});
  }
  noteSources(In);
  In.Program = treeName(commonFolder(In.Units));
  return In;
}

} // namespace

llvm::Expected<scan::CompileDatabase> openDatabase(const Arguments &A) {
  if (!A.Files.empty())
    return scan::commandLineDatabase(A.Files, A.Flags);
  if (!A.DatabasePath.empty())
    return scan::loadCompileDatabase(A.DatabasePath);
  llvm::Expected<std::string> Found = scan::findCompileDatabase(".");
  if (!Found)
    return Found.takeError();
  return scan::loadCompileDatabase(*Found);
}

llvm::Expected<Inputs> gatherInputs(const Arguments &A, support::Diagnostics &D) {
  if (!A.FactsGlobs.empty())
    return gatherFacts(A, D);
  llvm::Expected<scan::CompileDatabase> Database = openDatabase(A);
  if (!Database)
    return Database.takeError();
  llvm::SmallString<256> Here;
  llvm::sys::fs::current_path(Here);
  bool Searched = A.Files.empty() && A.DatabasePath.empty();
  if (Searched && llvm::sys::path::parent_path(Database->Path) != Here.str())
    D.note("the sources are those of " + support::displayPath(Database->Path));

  std::optional<scan::FactsCache> Cache;
  if (std::string Folder = support::cacheDirectory(); !A.NoCache && !Folder.empty())
    Cache.emplace(Folder, [&](const std::string &Why) {
      D.warning("facts are not cached: " + Why);
      D.note("set NVMOVE_CACHE_DIR to a folder that can be written, or use --no-cache");
    });
  support::Progress Progress(Database->Commands.size(), !A.Quiet);
  scan::ScannerOptions Options;
  Options.Threads = support::threadCount(A.Threads);
  Options.Cache = Cache ? &*Cache : nullptr;
  Options.OnDone = [&](llvm::StringRef File) {
    Progress.step(support::printable(support::displayPath(File)));
  };
  scan::Scanned Scanned = scan::scanUnits(Database->Commands, Options);
  Progress.finish();
  if (Cache)
    Cache->prune();

  Inputs In;
  In.Units = std::move(Scanned.Units);
  In.FromCache = Scanned.FromCache;
  In.Program = treeName(Database->Path.empty() ? commonFolder(In.Units)
                                               : llvm::sys::path::parent_path(Database->Path));
  In.Read = std::move(Scanned.Inputs);
  In.Read.insert(Database->Read.begin(), Database->Read.end());
  for (const scan::CompileCommand &Command : Database->Commands)
    In.Read.insert(Command.File);
  for (const scan::SkippedSource &Source : Database->Skipped)
    In.Read.insert(Source.File);
  reportFailures(Scanned.Failed, A, D);
  for (scan::FailedUnit &Unit : Scanned.Failed)
    In.Skipped.push_back({std::move(Unit.File), std::move(Unit.Why)});
  for (scan::SkippedSource &Source : Database->Skipped)
    In.Skipped.push_back({std::move(Source.File), std::move(Source.Why)});
  return In;
}

void reportUnknownFunction(const solve::UnknownFunction &Unknown, bool SomeSkipped,
                           support::Diagnostics &D) {
  std::string Names;
  for (const std::string &Candidate : Unknown.Candidates)
    Names += (Names.empty() ? "'" : ", '") + support::displayPath(Candidate) + "'";
  if (Unknown.Ambiguous) {
    D.error("several functions are called '" + Unknown.Name + "'");
    if (!Names.empty())
      D.note("name one of them: " + Names);
    return;
  }
  D.error("no function '" + Unknown.Name + "' is defined in the program" +
          (Names.empty() ? "" : "; did you mean " + Names + "?"));
  D.note("a static function that nothing calls is not seen");
  if (SomeSkipped)
    D.note("it may be in one of the inputs that were skipped");
}

} // namespace nvmove::tool
