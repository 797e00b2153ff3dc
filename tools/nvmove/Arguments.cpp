// Parses the command line with CLI11: see Arguments.h.
#include "nvmove/Arguments.h"

#include "support/Suggest.h"

#include "llvm/Config/llvm-config.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
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

"nvmove COMMAND --help" describes a command.)";

constexpr const char *ScanFooter = R"(
Examples:
  nvmove scan --load rdbLoad                      the database is searched as clangd does it
  nvmove scan -p build --suggest-load             which function loads the state?
  nvmove scan -p build --load rdbLoad --save rdbSave --html report.html
  nvmove scan --load load store.c hash.c -- -std=c99 -Iinclude
  nvmove scan --load db.c:init --format=json -o types.json
  nvmove scan --emit-facts db.c -o db.nvf -- -DNDEBUG
  nvmove scan --facts 'out/*.nvf' --load rdbLoad
  nvmove scan -p build --load rdbLoad --algorithm=nvmove --nvmove-opts=abd

Exit status:
  0  everything was analysed, persistent types were found
  1  the answer is incomplete (inputs were skipped; see --keep-going), or nothing was found
  2  wrong usage or unusable input
  3  internal error

Environment:
  NVMOVE_CACHE_DIR  where facts are cached (else XDG_CACHE_HOME/nvmove, else ~/.cache/nvmove)
  NO_COLOR          no colours unless --color=always)";

void addScanInputs(CLI::App &Scan, Arguments &A) {
  const char *Group = "Inputs";
  addInputs(Scan, A);
  Scan.add_option("--emit-facts", A.EmitFacts, "only record this file's facts, into -o")
      ->option_text("FILE")
      ->group(Group);
}

void addScanQuestion(CLI::App &Scan, Arguments &A) {
  const char *Group = "Question";
  addLoadAndSave(Scan, A);
  Scan.add_flag("--suggest-load", A.SuggestLoad, "list functions that may load the state, and why")
      ->group(Group);
  Scan.add_flag("--suggest-save", A.SuggestSave, "list functions that may save it, and why")
      ->group(Group);
  Scan.add_option("--why-not", A.WhyNot, "say in a note why this type is not among them")
      ->option_text("T[,T...]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(Group);
  Scan.add_option("--observed", A.Observed, "compare with a run ('nvmove observe -o')")
      ->option_text("FILE")
      ->group(Group);
  Scan.add_option("--algorithm", A.Algorithm,
                  "left-behind (default), or nvmove: the published one, for comparison")
      ->option_text("NAME")
      ->check(CLI::IsMember({"left-behind", "nvmove"}))
      ->group(Group);
  Scan.add_option("--nvmove-opts", A.NvmoveOptimisations,
                  "optimisations (a) to (d) of its paper: abcd (default) or none")
      ->option_text("LETTERS")
      ->check([](const std::string &Letters) {
        return Letters == "none" || Letters.find_first_not_of("abcd") == std::string::npos
                   ? std::string()
                   : std::string("expected letters of abcd, or none");
      })
      ->group(Group);
}

void addOutputs(CLI::App &Scan, Arguments &A) {
  const char *Group = "Output";
  Scan.add_option("--format", A.Format, "text (default), json or html")
      ->option_text("NAME")
      ->check(CLI::IsMember({"text", "json", "html"}))
      ->group(Group);
  Scan.add_option("-o,--output", A.Output, "write there instead of to stdout")
      ->option_text("FILE")
      ->group(Group);
  Scan.add_option("--html", A.HtmlFile, "also write an HTML report")
      ->option_text("FILE")
      ->group(Group);
  Scan.add_option("--json", A.JsonFile, "also write a JSON report")
      ->option_text("FILE")
      ->group(Group);
  static const std::map<std::string, support::ColorMode> Colors = {
      {"auto", support::ColorMode::Auto},
      {"always", support::ColorMode::Always},
      {"never", support::ColorMode::Never}};
  Scan.add_option_function<std::string>(
          "--color", [&A](const std::string &Mode) { A.Color = Colors.at(Mode); },
          "auto (default), always or never")
      ->option_text("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group(Group);
  Scan.add_flag("-q,--quiet", A.Quiet, "the table without the chains; no warnings")->group(Group);
  Scan.add_flag("-v,--verbose", A.Verbose, "list every skipped input and unresolved call")
      ->group(Group);
}

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

/// CLI11 says what is wrong; this adds the option that was probably meant.
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
  std::string Hint, What = Error.what();
  if (!Sub && !App.remaining().empty())
    What = "unknown command or option '" + App.remaining().front() + "'";
  if (!App.remaining(/*recurse=*/true).empty())
    for (const std::string &Extra : App.remaining(/*recurse=*/true)) {
      std::vector<std::string> Known;
      for (const CLI::Option *Option : (Sub ? Sub : &App)->get_options())
        for (const std::string &Name : Option->get_lnames())
          Known.push_back("--" + Name);
      for (const CLI::App *Command :
           (Sub ? Sub : &App)->get_subcommands([](const CLI::App *) { return true; }))
        Known.push_back(Command->get_name());
      Hint += support::didYouMean(support::nearest(Extra.substr(0, Extra.find('=')), Known));
    }
  std::cerr << "nvmove: error: " << What << Hint << "\n"
            << "try 'nvmove " << (Sub ? Sub->get_name() + " " : "") << "--help'\n";
  return ExitUsage;
}

std::optional<int> refuse(const std::string &Text) {
  std::cerr << "nvmove: error: " << Text << "\n";
  return ExitUsage;
}

/// However they are spelt, and whether or not they are there.
bool isOneFile(const std::string &A, const std::string &B) {
  namespace fs = std::filesystem;
  std::error_code Absent;
  return A == B || fs::equivalent(A, B, Absent) ||
         fs::weakly_canonical(fs::absolute(A, Absent), Absent) ==
             fs::weakly_canonical(fs::absolute(B, Absent), Absent);
}

/// The first of \p Names that was given, or null.
const char *given(const CLI::App &Scan, std::initializer_list<const char *> Names) {
  auto Found = std::find_if(Names.begin(), Names.end(),
                            [&](const char *Name) { return Scan.count(Name) != 0; });
  return Found == Names.end() ? nullptr : *Found;
}

std::optional<int> checkEmitFacts(const CLI::App &Scan, Arguments &A) {
  A.What = Command::EmitFacts;
  if (A.Output.empty())
    return refuse("--emit-facts needs -o FILE.nvf");
  if (!A.Load.empty() || !A.FactsGlobs.empty() || !A.Files.empty())
    return refuse("--emit-facts only records one file; it goes with -p or -- FLAGS alone");
  if (A.HasFlags && !A.DatabasePath.empty())
    return refuse("--emit-facts takes the flags of -p, or those after --, not both");
  if (const char *Name = given(Scan, {"--save", "--why-not", "--observed", "--algorithm",
                                      "--nvmove-opts", "--format", "--html", "--json",
                                      "--steps-max", "--suggest-load", "--suggest-save"}))
    return refuse(std::string(Name) + " says nothing to --emit-facts, which only records one file; "
                                      "give it to the scan that reads the facts (--facts)");
  return std::nullopt;
}

/// Options that one of the two algorithms does not look at.
std::optional<int> checkAlgorithm(const CLI::App &Scan, const Arguments &A) {
  bool Published = A.Algorithm == "nvmove";
  if (const char *Name = given(Scan, {"--why-not", "--observed", "--steps-max"}); Published && Name)
    return refuse(std::string(Name) +
                  " is not known to the published algorithm; leave out "
                  "--algorithm=nvmove, or " +
                  Name);
  if (!Published && given(Scan, {"--nvmove-opts"}))
    return refuse("--nvmove-opts is about the published algorithm; add --algorithm=nvmove");
  return std::nullopt;
}

/// Without a function that loads, those that may are looked for, whether or not that was asked for.
std::optional<int> checkSuggest(const CLI::App &Scan, Arguments &A) {
  A.What = Command::Suggest;
  if (const char *Name = given(Scan, {"--load", "--save", "--why-not", "--observed", "--algorithm",
                                      "--nvmove-opts", "--html", "--json"});
      Name && (A.SuggestLoad || A.SuggestSave))
    return refuse(std::string(Name) + " says nothing to --suggest-load and --suggest-save, which "
                                      "only list functions");
  if (A.Format == "html")
    return refuse("suggestions are printed as text or json");
  return std::nullopt;
}

/// What CLI11 cannot express: combinations.
std::optional<int> checkScan(const CLI::App &Scan, Arguments &A) {
  if (!A.EmitFacts.empty())
    return checkEmitFacts(Scan, A);
  const std::string *Outputs[] = {&A.Output, &A.HtmlFile, &A.JsonFile};
  for (const std::string *Each : Outputs)
    for (const std::string *Other : Outputs)
      if (Each < Other && !Each->empty() && *Each != "-" && isOneFile(*Each, *Other))
        return refuse("two outputs have the same name: " + *Each);
  if (A.Load.empty() || A.SuggestLoad || A.SuggestSave)
    if (std::optional<int> Wrong = checkSuggest(Scan, A))
      return Wrong;
  if (std::string Wrong = checkInputs(A); !Wrong.empty())
    return refuse(Wrong);
  return checkAlgorithm(Scan, A);
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

std::string checkEstimate(Arguments &A) {
  return A.Flags.empty() ? "what is to be run? Put the command after --" : "";
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
  addScanInputs(*Scan, A);
  addScanQuestion(*Scan, A);
  addOutputs(*Scan, A);
  addExecution(*Scan, A, "about 5 s");
  Scan->footer(ScanFooter);
  std::vector<Subcommand> Subs = addSubcommands(App, A);
  try {
    App.parse(OwnCount, Values);
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
  return checkScan(*Scan, A);
}

} // namespace nvmove::tool
