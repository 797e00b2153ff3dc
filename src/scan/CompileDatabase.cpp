// Finding and reading compile databases: see CompileDatabase.h.
#include "scan/CompileDatabase.h"

#include "scan/CommandLine.h"

#include "support/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"

namespace nvmove::scan {

namespace {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// A database nests three deep; generators add objects of their own.
constexpr unsigned NestingMax = 100;
constexpr llvm::StringLiteral DatabaseName = "compile_commands.json";
constexpr llvm::StringLiteral HowToMakeOne =
    "; create one with one of\n"
    "    bear -- make                                    (any make-like build)\n"
    "    cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ...    (CMake)\n"
    "  and name its folder with -p, or give a source file and its flags: FILE.c -- FLAGS";

llvm::Error failure(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

/// Brings \p Command into the form that is recorded and files it where it belongs. \p Output is
/// what the database says of it, or "".
/// On \p AnyLanguage the user has named the file: Clang will say what is wrong with it.
void keep(CompileDatabase &Database, CompileCommand Command, llvm::StringRef Output,
          bool AnyLanguage = false) {
  llvm::Error E = expandResponseFiles(Command, Database.Read);
  if (!E)
    E = simplify(Command, Output);
  if (E) {
    // A source in another language is skipped for that, whatever else its command holds.
    llvm::StringRef Language = languageOfSuffix(Command.File);
    std::string Why = toString(std::move(E));
    if (!Language.empty() && Language != "c")
      Why = (Language + " is not supported, only C").str();
    Database.Skipped.push_back({Command.File, std::move(Why)});
    return;
  }
  llvm::StringRef Language = languageOf(Command);
  if (Language.ends_with("-header") && !AnyLanguage)
    return; // Precompiled or only preprocessed: it is no part of the program by itself.
  if (AnyLanguage || Language == "c")
    Database.Commands.push_back(std::move(Command));
  else if (Language.empty())
    Database.Skipped.push_back({Command.File, "not a C source file"});
  else
    Database.Skipped.push_back({Command.File, (Language + " is not supported, only C").str()});
}

/// How far the object lies from the source: the nearest of several objects of one source is kept.
std::pair<size_t, llvm::StringRef> distance(const CompileCommand &Command) {
  llvm::StringRef Object = path::parent_path(Command.Output);
  llvm::StringRef Source = path::parent_path(Command.File);
  size_t Common = 0;
  while (Common < Object.size() && Common < Source.size() && Object[Common] == Source[Common])
    ++Common;
  return {Object.size() + Source.size() - 2 * Common, Command.Output};
}

/// Of commands that say the same, one stays, whatever their order.
void dropDuplicates(CompileDatabase &Database) {
  llvm::StringMap<size_t> Meanings;
  std::vector<CompileCommand> Kept;
  for (CompileCommand &Command : Database.Commands) {
    auto [It, New] = Meanings.try_emplace(meaningOf(Command), Kept.size());
    if (New) {
      Kept.push_back(std::move(Command));
      continue;
    }
    ++Database.Duplicates;
    if (distance(Command) < distance(Kept[It->second]))
      Kept[It->second] = std::move(Command);
  }
  Database.Commands = std::move(Kept);
}

/// How deep the brackets of \p Text nest; the parser of LLVM recurses once for each.
unsigned nesting(llvm::StringRef Text) {
  unsigned Depth = 0, Deepest = 0;
  bool Quoted = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (Quoted && C == '\\')
      ++I;
    else if (C == '"')
      Quoted = !Quoted;
    else if (!Quoted && (C == '[' || C == '{'))
      Deepest = std::max(Deepest, ++Depth);
    else if (!Quoted && (C == ']' || C == '}') && Depth)
      --Depth;
  }
  return Deepest;
}

/// Reads one database file into a CompileDatabase.
class Reader {
public:
  explicit Reader(std::string Path) {
    Database.Path = std::move(Path);
    Database.Read.push_back(Database.Path);
  }

  llvm::Expected<CompileDatabase> read() {
    auto Text = llvm::MemoryBuffer::getFile(Database.Path);
    if (!Text)
      return failure(Database.Path + ": " + Text.getError().message() + HowToMakeOne);
    std::string Decoded = decoded((*Text)->getBuffer());
    if (nesting(Decoded) > NestingMax)
      return failure(Database.Path + ": not a compile database, its brackets nest more than " +
                     llvm::Twine(NestingMax) + " deep" + HowToMakeOne);
    llvm::Expected<llvm::json::Value> Json = llvm::json::parse(Decoded);
    if (!Json)
      return failure(Database.Path + ": not a compile database, broken JSON at " +
                     toString(Json.takeError()) + HowToMakeOne);
    const llvm::json::Array *Entries = Json->getAsArray();
    if (!Entries)
      return failure(Database.Path + ": not a compile database, expected a list of entries" +
                     HowToMakeOne);
    if (Entries->empty())
      return failure(Database.Path +
                     ": no entries; was everything already built when it was "
                     "recorded? Clean the build, then record it again" +
                     HowToMakeOne);
    for (size_t I = 0; I < Entries->size(); ++I)
      if (llvm::Error E = add((*Entries)[I], I))
        return std::move(E);
    dropDuplicates(Database);
    return std::move(Database);
  }

private:
  llvm::Error add(const llvm::json::Value &Value, size_t Index) {
    auto Wrong = [&](llvm::StringRef What) {
      return failure(Database.Path + ": entry " + llvm::Twine(Index + 1) + " " + What);
    };
    const llvm::json::Object *Entry = Value.getAsObject();
    if (!Entry)
      return Wrong("is not an object");
    std::optional<llvm::StringRef> File = Entry->getString("file");
    if (!File || File->empty())
      return Wrong("has no \"file\"");
    CompileCommand Command;
    Command.Directory = support::absolutePath(Entry->getString("directory").value_or("."),
                                              path::parent_path(Database.Path));
    Command.File = support::absolutePath(*File, Command.Directory);
    if (const llvm::json::Array *Arguments = Entry->getArray("arguments")) {
      for (const llvm::json::Value &Argument : *Arguments) {
        std::optional<llvm::StringRef> Text = Argument.getAsString();
        if (!Text)
          return Wrong("has an argument that is not a string");
        Command.Arguments.push_back(Text->str());
      }
    } else if (std::optional<llvm::StringRef> Line = Entry->getString("command")) {
      Command.Arguments = split(*Line);
    }
    if (Command.Arguments.empty())
      return Wrong("has neither \"arguments\" nor \"command\"");
    keep(Database, std::move(Command), Entry->getString("output").value_or(""));
    return llvm::Error::success();
  }

  static std::vector<std::string> split(llvm::StringRef Line) {
    llvm::BumpPtrAllocator Memory;
    llvm::StringSaver Saver(Memory);
    llvm::SmallVector<const char *, 64> Words;
    llvm::cl::TokenizeGNUCommandLine(Line, Saver, Words);
    return {Words.begin(), Words.end()};
  }

  CompileDatabase Database;
};

} // namespace

llvm::Expected<CompileDatabase> loadCompileDatabase(llvm::StringRef Given) {
  std::string Path = support::absolutePath(Given);
  if (fs::is_directory(Path)) {
    std::string Inside = Path + "/" + DatabaseName.str();
    if (!fs::exists(Inside))
      return failure("no " + DatabaseName + " in " + Path + HowToMakeOne);
    Path = std::move(Inside);
  }
  return Reader(std::move(Path)).read();
}

llvm::Expected<std::string> findCompileDatabase(llvm::StringRef From) {
  std::string Start = support::absolutePath(From);
  for (llvm::StringRef Folder = Start; !Folder.empty(); Folder = path::parent_path(Folder))
    for (llvm::StringRef Below : {"", "build"}) {
      llvm::SmallString<256> Candidate(Folder);
      path::append(Candidate, Below, DatabaseName);
      if (fs::is_regular_file(Candidate))
        return std::string(Candidate);
    }
  return failure("no " + DatabaseName + " in " + Start + ", its parents, or build/ below them" +
                 HowToMakeOne);
}

llvm::Expected<CompileDatabase> commandLineDatabase(llvm::ArrayRef<std::string> Files,
                                                    llvm::ArrayRef<std::string> Flags) {
  CompileDatabase Database;
  CompileCommand Bare{support::absolutePath("."), "", "", Flags.vec()};
  if (llvm::Error E = expandResponseFiles(Bare, Database.Read))
    llvm::consumeError(std::move(E)); // Said of each file below.
  if (std::string Source = sourceAmong(Bare.Arguments); !Source.empty())
    return failure("'" + Source +
                   "' is a source file, and only options of the compiler follow --; "
                   "write it before --");
  for (const std::string &File : Files) {
    CompileCommand Command;
    Command.Directory = support::absolutePath(".");
    Command.File = support::absolutePath(File);
    Command.Arguments = {"clang"};
    Command.Arguments.insert(Command.Arguments.end(), Flags.begin(), Flags.end());
    Command.Arguments.push_back("-c");
    Command.Arguments.push_back(Command.File);
    keep(Database, std::move(Command), "", /*AnyLanguage=*/true);
  }
  return Database;
}

} // namespace nvmove::scan
