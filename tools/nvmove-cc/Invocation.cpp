// Arguments in, clang command out: see Invocation.h.
#include "Invocation.h"

#include "Emulated.h"
#include "Undefined.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>

namespace nvmove::driver {
namespace {

namespace fs = std::filesystem;

/// Splits as GCC and clang do on Unix: white space, quotes of both kinds, backslashes.
std::vector<std::string> splitResponse(const std::string &Text) {
  std::vector<std::string> Words;
  std::string Word;
  bool Inside = false;
  char Quote = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (C == '\\' && I + 1 < Text.size()) {
      Word += Text[++I];
      Inside = true;
    } else if (Quote) {
      if (C == Quote)
        Quote = 0;
      else
        Word += C;
    } else if (C == '"' || C == '\'') {
      Quote = C;
      Inside = true;
    } else if (isspace(static_cast<unsigned char>(C))) {
      if (Inside)
        Words.push_back(Word);
      Word.clear();
      Inside = false;
    } else {
      Word += C;
      Inside = true;
    }
  }
  if (Inside)
    Words.push_back(Word);
  return Words;
}

std::optional<std::vector<std::string>> readResponse(const std::string &Argument) {
  std::ifstream File(Argument.substr(1));
  if (!File)
    return std::nullopt; // clang takes it for an input and says what is wrong
  return splitResponse({std::istreambuf_iterator<char>(File), {}});
}

class Parser {
public:
  Invocation Made;

  void take(const std::vector<std::string> &Arguments, bool Pass, unsigned Depth) {
    constexpr unsigned DepthMax = 16; // response files that name each other end here
    for (const std::string &A : Arguments) {
      if (A.size() > 1 && A[0] == '@' && Depth < DepthMax)
        if (auto Words = readResponse(A)) {
          bool Own = holdsOwn(*Words);
          take(*Words, Pass && Own, Depth + 1);
          if (Pass && !Own)
            Made.Passed.push_back(A);
          continue;
        }
      if (isOwn(A)) {
        takeOwn(A.rfind("--emulate", 0) == 0 ? "--nvmove-" + A.substr(2) : A);
        continue;
      }
      if (Pass)
        Made.Passed.push_back(A);
      takeClang(A);
    }
  }

private:
  /// --emulate and --emulate-types are short for --nvmove-emulate and so on.
  static bool isOwn(const std::string &Word) {
    return Word.rfind("--nvmove-", 0) == 0 || Word.rfind("--emulate", 0) == 0;
  }

  /// Or what such a link may have to leave out.
  static bool holdsOwn(const std::vector<std::string> &Words) {
    for (const std::string &Word : Words)
      if (isOwn(Word) || Word[0] == '@' || forbidsUndefined(Word))
        return true;
    return false;
  }

  void takeOwn(const std::string &A) {
    const OwnOption *O = findOwn(A);
    size_t Equals = A.find('=');
    std::string Value = Equals == std::string::npos ? "" : A.substr(Equals + 1);
    if (!O)
      return fail("unknown option '" + A + "'" + didYouMean(A));
    if (!O->Value.empty() && Value.empty())
      return fail("option '--nvmove-" + std::string(O->Name) +
                  "' needs a value: =" + std::string(O->Value));
    switch (O->For) {
    case OwnOption::Use::Help:
      Made.Help = true;
      return;
    case OwnOption::Use::Runtime:
      Made.Runtime = Value;
      return;
    case OwnOption::Use::Clang:
      Made.Clang = Value;
      return;
    case OwnOption::Use::Observe:
      Made.Observed = true;
      return;
    case OwnOption::Use::Plugin:
      if (O->Name == "port" && !Port.empty() && Port != Value)
        return fail("one port file describes a program; these are '" + Port + "' and '" + Value +
                    "'");
      if (O->Name == "port")
        Port = Value;
      Made.Plugin.push_back(A.substr(std::string_view("--nvmove-").size()));
      return;
    }
  }

  void takeClang(const std::string &A) {
    if (ValueFollows) {
      ValueFollows = false;
      if (LanguageFollows)
        Made.Language = A;
      LanguageFollows = false;
      return;
    }
    if (A == "-v" || A == "-###")
      Made.Verbose = true;
    if (A.empty() || A[0] != '-' || A == "-") {
      Made.HasInput |= !isHeader(A, Made.Language);
      Made.Inputs.push_back(A);
      if (A.size() > 2 && A.compare(A.size() - 2, 2, ".S") == 0)
        Made.Assembler.push_back(A);
      return;
    }
    Made.Static |= A == "-static" || A == "--static" || A == "-static-pie";
    Made.Sanitized |= A.rfind("-fsanitize=", 0) == 0;
    switch (meaningOf(A)) {
    case Meaning::None:
      Made.HasInput |= A.rfind("-l", 0) == 0;
      return;
    case Meaning::TakesValue:
      ValueFollows = true;
      return;
    case Meaning::StopsBefore:
      Made.StopsBefore = true;
      return;
    case Meaning::NoRuntime:
      Made.NoRuntime = true;
      Made.Shared |= A == "-shared" || A == "--shared";
      return;
    case Meaning::NoLibraries:
      Made.NoLibraries = true;
      return;
    case Meaning::Language:
      Made.Language = A.substr(std::string_view("-x").size());
      ValueFollows = LanguageFollows = A == "-x";
      return;
    case Meaning::Plain:
      Made.Plain = true;
      return;
    }
  }

  void fail(const std::string &What) {
    if (Made.Error.empty())
      Made.Error = What;
  }

  bool ValueFollows = false, LanguageFollows = false;
  std::string Port;
};

bool contains(const std::vector<std::string> &Words, std::initializer_list<const char *> Any) {
  return std::find_first_of(Words.begin(), Words.end(), Any.begin(), Any.end()) != Words.end();
}

bool emulates(const std::vector<std::string> &Options) {
  return std::any_of(Options.begin(), Options.end(),
                     [](const std::string &O) { return O.rfind("emulate=", 0) == 0; });
}

} // namespace

Invocation parse(const std::vector<std::string> &Arguments) {
  Parser P;
  P.take(Arguments, /*Pass=*/true, 0);
  const char *Disabled = std::getenv("NVMOVE_DISABLE");
  P.Made.Plain |= Disabled && *Disabled && std::string_view(Disabled) != "0";
  if (P.Made.Plain || contains(P.Made.Passed, {"-w", "-E", "-M", "-MM"}) ||
      contains(P.Made.Plugin, {"warnings=off"}))
    P.Made.Assembler.clear();
  else if (!P.Made.StopsBefore && emulates(P.Made.Plugin))
    P.Made.Uncharged = withoutEmulation(P.Made.Inputs);
  P.Made.WarningsFail = contains(P.Made.Plugin, {"warnings=error"});
  if (P.Made.Observed && !P.Made.Plugin.empty() && P.Made.Error.empty())
    P.Made.Error = "--nvmove-observe builds the program as it is, without '--nvmove-" +
                   P.Made.Plugin.front() + "'; leave one of them out";
  return std::move(P.Made);
}

namespace {

/// The user's arguments, where a shared library may have names of libnvmove undefined.
void addPassed(const Invocation &I, const Installation &Found, std::vector<std::string> &Command) {
  bool Told = I.Shared && !Found.Undefined.empty() && linksWithGnuLd(I.Passed);
  const std::vector<std::string> Passed =
      I.Shared && !Told ? withoutUndefinedChecks(I.Passed) : I.Passed;
  Command.insert(Command.end(), Passed.begin(), Passed.end());
  if (Told && !I.StopsBefore && I.HasInput)
    for (const std::string &Argument :
         {std::string("--start-no-unused-arguments"), "-Wl,@" + Found.Undefined,
          std::string("--end-no-unused-arguments")})
      Command.push_back(Argument);
}

/// What traces a program that flushes by itself, also where only a library was compiled so; and what
/// traces what the libraries of another one write.
void addTraced(const Invocation &I, const Installation &Found, std::vector<std::string> &Command) {
  if (contains(I.Plugin, {"trace=raw"})) {
    Command.push_back("-Wl,-u,__nvm_raw_enable");
    Command.push_back(Found.Raw);
  } else if (contains(I.Plugin, {"trace"}) && !I.Static) {
    Command.push_back("-Wl,-u,__nvm_outputs");
    Command.push_back(Found.Outputs);
  }
}

/// What libnvmove interposes, in a program without a dynamic linker. The C library's own come
/// before the runtime's, which has functions of these names for other programs.
void addWraps(std::vector<std::string> &Command) {
  struct Interposed {
    std::string Name;
    bool Fetched; // from the C library, where nothing else defines it
  };
  for (const Interposed &I : {
#define NVM_INTERPOSED(name) Interposed{#name, true},
#define NVM_INTERPOSED_IF_THERE(name) Interposed{#name, false},
#include "nvmove/interposed.def"
#undef NVM_INTERPOSED
#undef NVM_INTERPOSED_IF_THERE
       })
    Command.push_back("-Wl,--wrap=" + I.Name + (I.Fetched ? ",-u," + I.Name : "") + ",-u,__wrap_" +
                      I.Name);
  Command.push_back("-lc");
}

/// The plugin with its files and options.
void addPlugin(const Invocation &I, const Installation &Found, std::vector<std::string> &Command) {
  auto Add = [&](const std::string &Argument) { Command.push_back(Argument); };
  Add("--start-no-unused-arguments"); // a link, a .s file: nothing here concerns them
  Add("-fplugin=" + Found.Plugin);
  Add("-fpass-plugin=" + Found.Plugin);
  for (const std::string &File : Found.UnsafeFiles)
    Add("-fplugin-arg-nvmove-installed-unsafe=" + File);
  for (const std::string &Option : I.Plugin) {
    Add("-fplugin-arg-nvmove-" + Option);
    if (Option == "remarks") {
      Add("-Rpass=^nvmove$");
      Add("-Rpass-missed=^nvmove$");
    }
  }
  if (!Found.Cxx.empty()) {
    Add("-cxx-isystem");
    Add(Found.Cxx);
  }
  if (!Found.Include.empty()) {
    Add("-idirafter"); // last, so that it changes the order of no system directory
    Add(Found.Include);
  }
  Add("--end-no-unused-arguments");
}

/// A program whose calls can be followed and named, with the library that does it. All blocks are made:
/// an optimiser may leave one out, or make a variable of it.
std::vector<std::string> addObserved(const Invocation &I, const Installation &Found,
                                     std::vector<std::string> Command, std::string &Error) {
  if (Found.Observe.empty())
    Error = "libnvmove_observe.a is not installed beside this program; is the installation whole?";
  else if (I.Static && !I.StopsBefore)
    Error = "a static program cannot be observed; link it without -static";
  Command.insert(Command.end(),
                 {"--start-no-unused-arguments", "-g", "-fno-omit-frame-pointer",
                  "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls",
                  "-fno-builtin-malloc", "-fno-builtin-calloc", "-fno-builtin-realloc",
                  "-fno-builtin-strdup", "-fno-builtin-strndup", "--end-no-unused-arguments"});
  Command.insert(Command.end(), I.Passed.begin(), I.Passed.end());
  // The program itself has all names.
  Command.insert(Command.end(),
                 {"--start-no-unused-arguments", "-gno-split-dwarf", "--end-no-unused-arguments"});
  if (I.StopsBefore || I.NoRuntime || !I.HasInput)
    return Command;
  if (!I.Language.empty())
    Command.insert(Command.end(), {"-x", "none"});
  Command.insert(Command.end(),
                 {"-Wl,--whole-archive", Found.Observe, "-Wl,--no-whole-archive", "-ldl"});
  return Command;
}

} // namespace

std::vector<std::string> compose(const Invocation &I, const Installation &Found,
                                 std::string &Error) {
  std::vector<std::string> Command{I.Clang.empty() ? Found.Clang : I.Clang};
  auto Add = [&](const std::string &Argument) { Command.push_back(Argument); };
  if (I.Plain) {
    Command.insert(Command.end(), I.Passed.begin(), I.Passed.end());
    return Command;
  }
  if (I.Observed)
    return addObserved(I, Found, Command, Error);
  if (Found.Plugin.empty() || Found.UnsafeFiles.front().empty()) {
    Error = "the compiler plugin is not installed beside this program; is the installation whole?";
    return {};
  }
  addPlugin(I, Found, Command);
  addPassed(I, Found, Command);
  if (I.StopsBefore || I.NoRuntime || !I.HasInput || I.Runtime == "none")
    return Command;
  std::string Runtime = I.Runtime.empty() ? Found.Runtime : I.Runtime;
  if (Runtime.empty()) {
    Error = "libnvmove.a is not installed beside this program; --nvmove-runtime=FILE names another";
    return {};
  }
  Add("--start-no-unused-arguments");
  if (!I.Language.empty()) {
    Add("-x");
    Add("none"); // the archive is none of the language that the user named
  }
  if (I.Static)
    addWraps(Command);
  else // also where a library before the runtime has the lock functions, as -lc and TSan's do
    Add("-Wl,-u,__nvmi_locks");
  addTraced(I, Found, Command);
  if (!Found.Admin.empty()) // before what it needs; only what the program calls is linked
    Add(Found.Admin);
  Add(Runtime);
  for (const std::string &Library : splitResponse(NVMOVE_RUNTIME_LIBRARIES))
    Add(Library);
  if (I.NoLibraries) // what libnvmove itself needs
    for (const std::string &Library : splitResponse(
             I.Static ? "-Wl,--start-group -lgcc -lgcc_eh -lc -Wl,--end-group" : "-lgcc -lc"))
      Add(Library);
  // Libraries that are loaded later find the one runtime of the process, and those that free what
  // they were given (runtime/interpose/interpose.c). Into a static program none is; -static-pie
  // could not start with a thread-local name that is exported.
  if (!I.Static)
    for (const char *Name :
         {"__nvm_*", "nvm_*", "free", "realloc", "reallocarray", "malloc_usable_size"})
      Add(std::string("-Wl,--export-dynamic-symbol=") + Name);
  if (I.Sanitized)
    Add("-Wl,-u,__nvmi_interpose_strong");
  Add("--end-no-unused-arguments");
  return Command;
}

std::string quoted(const std::vector<std::string> &Command) {
  std::string Text;
  for (const std::string &Argument : Command) {
    bool Safe = !Argument.empty() &&
                Argument.find_first_of(" \t\n\"'\\$`*?;&|<>()#~![]{}") == std::string::npos;
    std::string Escaped;
    for (char C : Argument)
      Escaped += C == '\'' ? "'\\''" : std::string(1, C);
    Text += (Text.empty() ? "" : " ") + (Safe ? Argument : "'" + Escaped + "'");
  }
  return Text;
}

} // namespace nvmove::driver
