// Finding and reading compile databases: see CompileDatabase.h.
#include "scan/CompileDatabase.h"

#include "support/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace nvmove::scan {

namespace {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

constexpr llvm::StringLiteral DatabaseName = "compile_commands.json";
constexpr llvm::StringLiteral HowToMakeOne =
    "; create one with one of\n"
    "    bear -- make                                    (any make-like build)\n"
    "    cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ...    (CMake)\n"
    "  and name its folder with -p, or give a source file and its flags: FILE.c -- FLAGS";

llvm::Error failure(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

/// What a source is written in, by the suffix that every C compiler goes by.
llvm::StringRef languageOfSuffix(llvm::StringRef File) {
  return llvm::StringSwitch<llvm::StringRef>(path::extension(File))
      .Cases(".c", ".i", "c")
      .Cases(".cc", ".cp", ".cxx", ".cpp", ".c++", ".C", ".CPP", ".ii", "C++")
      .Cases(".s", ".S", ".sx", ".asm", "assembler")
      .Cases(".m", ".mm", ".mi", ".M", "Objective-C")
      .Cases(".f", ".F", ".f90", ".F90", ".for", "Fortran")
      .Cases(".cu", ".cuh", "CUDA")
      .Cases(".bc", ".ll", "LLVM IR")
      .Default("");
}

/// "c" for what can be recorded, else the name of the language to tell the user. The last -x
/// before the file wins over the suffix.
llvm::StringRef languageOf(const CompileCommand &Command) {
  llvm::StringRef Explicit;
  for (size_t I = 1; I < Command.Arguments.size(); ++I) {
    llvm::StringRef Argument = Command.Arguments[I];
    if (Argument == "-x" && I + 1 < Command.Arguments.size())
      Explicit = Command.Arguments[++I];
    else if (Argument.consume_front("-x"))
      Explicit = Argument;
  }
  if (Explicit.empty() || Explicit == "none")
    return languageOfSuffix(Command.File);
  return llvm::StringSwitch<llvm::StringRef>(Explicit)
      .Cases("c", "cpp-output", "c")
      .StartsWith("c++", "C++")
      .StartsWith("assembler", "assembler")
      .Default(Explicit);
}

/// Options that say how code is generated or what else is written, never what the source means.
struct IgnoredOption {
  llvm::StringLiteral Start;
  bool Whole;         ///< The argument is exactly Start.
  unsigned Following; ///< Arguments that belong to it.
};
constexpr IgnoredOption IgnoredOptions[] = {
    {"-o", true, 1},
    {"-c", true, 0},
    {"-MF", true, 1},
    {"-MT", true, 1},
    {"-MQ", true, 1},
    {"-M", false, 0},
    {"-fPIC", true, 0},
    {"-fpic", true, 0},
    {"-fPIE", true, 0},
    {"-fpie", true, 0},
    {"-DPIC", true, 0},
    {"-g", false, 0},
    {"-O", false, 0},
    {"-W", false, 0},
    {"-pipe", true, 0},
    {"-Wp,-MD", false, 0},
    {"-fvisibility", false, 0},
};

const IgnoredOption *ignored(llvm::StringRef Argument) {
  for (const IgnoredOption &Option : IgnoredOptions)
    if (Option.Whole ? Argument == Option.Start : Argument.starts_with(Option.Start))
      return &Option;
  return nullptr;
}

/// Options whose value is the next argument, and might look like a source file.
constexpr llvm::StringLiteral ValuedOptions[] = {
    "-I",         "-D",       "-U",      "-include", "-imacros", "-isystem", "-iquote",
    "-idirafter", "-o",       "-x",      "-MF",      "-MT",      "-MQ",      "-L",
    "-l",         "-Xlinker", "-Xclang", "-T",       "-target",  "-arch",    "-isysroot",
};

/// "cc a.c b.c" is one entry for each file but the same arguments: leaves only the entry's own.
void dropOtherSources(CompileCommand &Command) {
  std::vector<std::string> Kept;
  for (size_t I = 0; I < Command.Arguments.size(); ++I) {
    const std::string &Argument = Command.Arguments[I];
    bool Source = I && Argument[0] != '-' && !languageOfSuffix(Argument).empty();
    if (!Source || support::absolutePath(Argument, Command.Directory) == Command.File)
      Kept.push_back(Argument);
    if (I && llvm::is_contained(ValuedOptions, Argument) && I + 1 < Command.Arguments.size())
      Kept.push_back(Command.Arguments[++I]);
  }
  Command.Arguments = std::move(Kept);
}

/// Equal for commands that give the same facts.
std::string meaningOf(const CompileCommand &Command) {
  std::string Key = Command.Directory + '\0' + Command.File;
  for (size_t I = 1; I < Command.Arguments.size(); ++I) {
    if (const IgnoredOption *Option = ignored(Command.Arguments[I])) {
      I += Option->Following;
      continue;
    }
    Key += '\0';
    Key += Command.Arguments[I];
  }
  return Key;
}

/// The object file: what the entry says, else what follows -o.
std::string outputOf(llvm::StringRef Stated, const CompileCommand &Command) {
  llvm::StringRef Output = Stated;
  for (size_t I = 1; Output.empty() && I < Command.Arguments.size(); ++I) {
    llvm::StringRef Argument = Command.Arguments[I];
    if (Argument == "-o" && I + 1 < Command.Arguments.size())
      Output = Command.Arguments[I + 1];
    else if (Argument.size() > 2 && Argument.consume_front("-o"))
      Output = Argument;
  }
  return Output.empty() ? "" : support::absolutePath(Output, Command.Directory);
}

/// Reads one database file into a CompileDatabase.
class Reader {
public:
  explicit Reader(std::string Path) { Database.Path = std::move(Path); }

  llvm::Expected<CompileDatabase> read() {
    auto Text = llvm::MemoryBuffer::getFile(Database.Path);
    if (!Text)
      return failure(Database.Path + ": " + Text.getError().message() + HowToMakeOne);
    llvm::Expected<llvm::json::Value> Json = llvm::json::parse((*Text)->getBuffer());
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
    if (llvm::Error E = expandResponseFiles(Command))
      return Wrong("(" + Command.File + "): " + toString(std::move(E)));
    Command.Output = outputOf(Entry->getString("output").value_or(""), Command);
    keep(std::move(Command));
    return llvm::Error::success();
  }

  static std::vector<std::string> split(llvm::StringRef Line) {
    llvm::BumpPtrAllocator Memory;
    llvm::StringSaver Saver(Memory);
    llvm::SmallVector<const char *, 64> Words;
    llvm::cl::TokenizeGNUCommandLine(Line, Saver, Words);
    return {Words.begin(), Words.end()};
  }

  llvm::Error expandResponseFiles(CompileCommand &Command) {
    auto IsResponse = [](const std::string &S) { return llvm::StringRef(S).starts_with("@"); };
    if (llvm::none_of(Command.Arguments, IsResponse))
      return llvm::Error::success();
    llvm::SmallVector<const char *, 64> Words;
    for (const std::string &Argument : Command.Arguments)
      Words.push_back(Argument.c_str());
    llvm::BumpPtrAllocator Memory;
    llvm::cl::ExpansionContext Expansion(Memory, llvm::cl::TokenizeGNUCommandLine);
    Expansion.setCurrentDir(Command.Directory).setVFS(Files.get()).setRelativeNames(true);
    if (llvm::Error E = Expansion.expandResponseFiles(Words))
      return E;
    Command.Arguments = std::vector<std::string>(Words.begin(), Words.end());
    return llvm::Error::success();
  }

  void keep(CompileCommand Command) {
    llvm::erase_if(Command.Arguments, [](const std::string &A) { return A.empty(); });
    dropOtherSources(Command);
    llvm::StringRef Language = languageOf(Command);
    if (!Meanings.insert(meaningOf(Command)).second) {
      ++Database.Duplicates;
      return;
    }
    if (Language == "c")
      Database.Commands.push_back(std::move(Command));
    else if (Language.empty())
      Database.Skipped.push_back({Command.File, "not a C source file"});
    else
      Database.Skipped.push_back({Command.File, (Language + " is not supported, only C").str()});
  }

  CompileDatabase Database;
  llvm::StringSet<> Meanings;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files = llvm::vfs::getRealFileSystem();
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

CompileDatabase commandLineDatabase(llvm::ArrayRef<std::string> Files,
                                    llvm::ArrayRef<std::string> Flags) {
  CompileDatabase Database;
  for (const std::string &File : Files) {
    CompileCommand Command;
    Command.Directory = support::absolutePath(".");
    Command.File = support::absolutePath(File);
    Command.Arguments = {"clang"};
    Command.Arguments.insert(Command.Arguments.end(), Flags.begin(), Flags.end());
    Command.Arguments.push_back("-c");
    Command.Arguments.push_back(Command.File);
    Database.Commands.push_back(std::move(Command));
  }
  return Database;
}

} // namespace nvmove::scan
