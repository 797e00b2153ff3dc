// Parses the command line with CLI11: see Arguments.h.
#include "nvmove/Arguments.h"

#include "support/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <sstream>

namespace nvmove::tool {

namespace {

constexpr size_t HelpColumn = 30;

constexpr const char *MainFooter = R"(
The order of the steps:
  nvmove scan -p build --load rdbLoad      which types hold the state, and why
  nvmove observe --load rdbLoad -- ...     which allocations become data
  nvmove estimate ...                      what slower memory would cost
  nvmove plan -p build --load rdbLoad -o server.nvmove.yaml
  nvmove-cc --nvmove-port=server.nvmove.yaml ...
  nvmove move ...                          plan, build, kill and compare in one command
  nvmove crash -- ./server                 that it survives every crash
  nvmove pool check server.pool            the file that has the data
  nvmove stat server.pool                  what the running server does with it

"nvmove help COMMAND" describes a command.)";

} // namespace

void addInputs(CLI::App &App, Arguments &A) {
  const char *Group = "Inputs";
  App.add_option("files", A.Files, "C files to scan with the flags after --, or .nvf files")
      ->option_text("FILE...");
  App.add_option("-p,--build,--database", A.DatabasePath, "folder of compile_commands.json, or it")
      ->option_text("DIR")
      ->group(Group);
  App.add_option("--facts", A.FactsGlobs, "link and solve recorded facts (a glob; repeatable)")
      ->option_text("GLOB")
      ->allow_extra_args(false)
      ->group(Group);
}

void addLoadAndSave(CLI::App &App, Arguments &A) {
  const char *Group = "Question";
  App.add_option("--load", A.Load, "function that loads the state: NAME or file.c:NAME")
      ->option_text("F[,F...]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(Group);
  App.add_option("--save", A.Save, "function that saves it: drops what is never saved")
      ->option_text("F[,F...]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(Group);
}

void addExecution(CLI::App &Scan, Arguments &A, const std::string &Usual) {
  const char *Group = "Execution";
  Scan.add_option("-j,--jobs", A.Threads, "threads (default: all processors)")
      ->option_text("N")
      ->check(CLI::Range(1u, 1024u))
      ->group(Group);
  Scan.add_option("--steps-max", A.StepsMax,
                  "work before the analysis gives up and says so (default: " + Usual + ")")
      ->option_text("N")
      ->check(CLI::Range(uint64_t(1), UINT64_MAX))
      ->group(Group);
  Scan.add_flag("--keep-going", A.KeepGoing, "exit 0 although inputs were skipped")->group(Group);
  Scan.add_flag("--no-cache", A.NoCache, "neither read nor write the facts cache")->group(Group);
}

namespace {

/// CLI11 puts two empty lines between groups.
std::string withoutDoubleBlanks(std::string Text) {
  for (size_t At; (At = Text.find("\n\n\n")) != std::string::npos;)
    Text.erase(At, 1);
  return Text;
}

std::vector<std::string> longOptions(const CLI::App &App) {
  std::vector<std::string> Names;
  for (const CLI::Option *Option : App.get_options())
    for (const std::string &Name : Option->get_lnames())
      Names.push_back("--" + Name);
  return Names;
}

/// That \p App does not know \p Extras, and what was probably meant.
std::string told(const CLI::App &App, const std::vector<std::string> &Extras) {
  std::vector<std::string> Commands, Known = longOptions(App);
  if (App.get_subcommands().empty()) // else a command was given
    for (const CLI::App *Each : App.get_subcommands([](const CLI::App *) { return true; }))
      Commands.push_back(Each->get_name());
  std::string Text;
  for (const std::string &Extra : Extras) {
    std::string Name = Extra.substr(0, Extra.find('='));
    bool IsOption = llvm::StringRef(Extra).starts_with("-");
    if (!IsOption && !Commands.empty()) // what follows belongs to it
      return "unknown command '" + Extra + "'" +
             support::didYouMean(support::nearest(Extra, Commands));
    Text += Text.empty() ? "" : "; ";
    if (llvm::is_contained(Known, Name))
      Text += "'" + Name + "' stands behind the command";
    else if (IsOption)
      Text += "unknown option '" + Name + "'" + support::didYouMean(support::nearest(Name, Known));
    else
      Text += "unexpected '" + Extra + "'";
  }
  return Text;
}

/// CLI11 says what is wrong; this adds what was probably meant.
int explain(const CLI::App &App, const CLI::App *Sub, const CLI::ParseError &Error) {
  if (Error.get_exit_code() == 0) {
    std::ostringstream Text;
    App.exit(Error, Text, std::cerr); // --help and --version.
    std::cout << withoutDoubleBlanks(Text.str()) << std::flush;
    if (std::cout)
      return ExitComplete;
    std::cerr << "nvmove: error: standard output: " << std::strerror(errno) << "\n";
    return ExitUsage;
  }
  std::string What = Error.what();
  const CLI::App *Deepest = Sub ? Sub : &App;
  while (!Deepest->get_subcommands().empty())
    Deepest = Deepest->get_subcommands().front();
  // What is missing may be what was misspelt.
  std::vector<std::string> Extras = App.remaining(/*recurse=*/true);
  if (!Extras.empty())
    What = told(*Deepest, Extras);
  std::cerr << "nvmove: error: " << What << "\n"
            << "try 'nvmove " << (Sub ? Sub->get_name() + " " : "") << "--help'\n";
  return ExitUsage;
}

std::optional<int> refuse(const std::string &Text) {
  std::cerr << "nvmove: error: " << Text << "\n";
  return ExitUsage;
}

struct Subcommand {
  const CLI::App *App;
  Command What;
  std::string (*Check)(Arguments &); ///< empty, or what CLI11 cannot say about the combination
};

void addFactsOptions(CLI::App &Facts, Arguments &A) {
  Facts.footer("");
  Facts.add_option("files", A.Files, "files made by scan --emit-facts")
      ->option_text("FILE")
      ->required();
}

std::string checkFacts(Arguments &A) {
  return A.HasFlags ? "facts compiles nothing: nothing may follow --" : "";
}

std::string checkPool(Arguments &A) {
  return A.HasFlags ? "a pool command runs no program: nothing may follow --" : "";
}

/// All but scan.
std::vector<Subcommand> addSubcommands(CLI::App &App, Arguments &A) {
  struct {
    const char *Name, *Help;
    Command What;
    void (*Add)(CLI::App &, Arguments &);
    std::string (*Check)(Arguments &);
  } static constexpr Table[] = {
      {"observe", "Run a program, and say which of its allocations become its data",
       Command::Observe, addObserveOptions, checkObserve},
      {"plan", "Write the port file that moves a program's data, with a reason for each line",
       Command::Plan, addPlanOptions, checkPlan},
      {"move", "Plan a program's port, build it, kill it, and compare what it knows", Command::Move,
       addMoveOptions, checkMove},
      {"crash", "Show that a program's pool survives every crash, or the line that does not",
       Command::Crash, addCrashOptions, checkCrash},
      {"pool", "Look at pools, check them, free their garbage", Command::Pool, addPoolOptions,
       checkPool},
      {"stat", "Show what a running program does with its pools, and in which lines", Command::Stat,
       addStatOptions, checkStat},
      {"estimate", "Run a program as if its persistent types lay in slower memory",
       Command::Estimate, addEstimateOptions, checkEstimate},
      {"facts", "Print recorded facts (.nvf) for reading", Command::DumpFacts, addFactsOptions,
       checkFacts}};
  std::vector<Subcommand> Made;
  for (const auto &Each : Table) {
    CLI::App *Sub = App.add_subcommand(Each.Name, Each.Help);
    Each.Add(*Sub, A);
    Made.push_back({Sub, Each.What, Each.Check});
  }
  return Made;
}

/// "help COMMAND" means "COMMAND --help", and "help" alone "--help".
std::vector<const char *> withoutHelpCommand(const CLI::App &App, int Count, char **Values) {
  std::vector<const char *> All(Values, Values + Count);
  if (Count < 2 || llvm::StringRef(Values[1]) != "help")
    return All;
  All.erase(All.begin() + 1);
  bool IsKnown = !App.get_subcommands([&](const CLI::App *Each) {
                       return Count > 2 && Each->get_name() == Values[2];
                     })
                      .empty();
  if (Count == 2 || IsKnown) // else it is told that it is none
    All.push_back("--help");
  return All;
}

} // namespace

std::string checkInputs(Arguments &A) {
  for (size_t I = 0; I < A.Files.size();)
    if (llvm::StringRef(A.Files[I]).ends_with(".nvf")) {
      // The shell expanded an unquoted --facts *.nvf.
      A.FactsGlobs.push_back(A.Files[I]);
      A.Files.erase(A.Files.begin() + static_cast<std::ptrdiff_t>(I));
    } else {
      ++I;
    }
  if (!A.DatabasePath.empty() + !A.Files.empty() + !A.FactsGlobs.empty() > 1)
    return "give one of -p DIR, source files, and --facts, not several";
  if (A.HasFlags && A.Files.empty())
    return "flags after -- need source files before it";
  return "";
}

std::optional<int> parseArguments(int Count, char **Values, Arguments &A) {
  int OwnCount = Count;
  for (int I = 1; I < Count && OwnCount == Count; ++I)
    if (llvm::StringRef(Values[I]) == "--")
      OwnCount = I;
  A.HasFlags = OwnCount != Count;
  if (A.HasFlags)
    A.Flags.assign(Values + OwnCount + 1, Values + Count);

  CLI::App App("nvmove moves existing C programs onto persistent memory.", "nvmove");
  App.get_formatter()->column_width(HelpColumn);
  App.set_version_flag("--version", "nvmove " NVMOVE_VERSION " (LLVM " LLVM_VERSION_STRING ")");
  App.require_subcommand(1);
  App.footer(MainFooter);
  CLI::App *Scan =
      App.add_subcommand("scan", "Find the types that hold a program's persistent state, and why");
  addScanOptions(*Scan, A);
  std::vector<Subcommand> Subs = addSubcommands(App, A);
  try {
    std::vector<const char *> Own = withoutHelpCommand(App, OwnCount, Values);
    App.parse(static_cast<int>(Own.size()), Own.data());
  } catch (const CLI::ParseError &Error) {
    const CLI::App *Meant = Scan->parsed() ? Scan : nullptr;
    for (const Subcommand &Sub : Subs)
      Meant = Sub.App->parsed() ? Sub.App : Meant;
    return explain(App, Meant, Error);
  }
  for (const Subcommand &Sub : Subs)
    if (Sub.App->parsed()) {
      A.What = Sub.What;
      std::string Wrong = Sub.Check(A);
      return Wrong.empty() ? std::nullopt : refuse(Wrong);
    }
  std::string Wrong = checkScan(*Scan, A);
  return Wrong.empty() ? std::nullopt : refuse(Wrong);
}

} // namespace nvmove::tool
