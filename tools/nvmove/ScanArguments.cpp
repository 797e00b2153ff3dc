// The command line of `nvmove scan`: see Arguments.h.
#include "nvmove/Arguments.h"

#include <CLI/CLI.hpp>

#include <filesystem>

namespace nvmove::tool {

namespace {

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

Next:
  nvmove observe --load F -- ...     which allocations become data: in a run
  nvmove plan -p DIR --load F -o port.nvmove.yaml
                                     writes what is to be moved into a port file

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

void addScanOutputs(CLI::App &Scan, Arguments &A) {
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

std::string checkEmitFacts(const CLI::App &Scan, Arguments &A) {
  A.What = Command::EmitFacts;
  if (A.Output.empty())
    return "--emit-facts needs -o FILE.nvf";
  if (!A.Load.empty() || !A.FactsGlobs.empty() || !A.Files.empty())
    return "--emit-facts only records one file; it goes with -p or -- FLAGS alone";
  if (A.HasFlags && !A.DatabasePath.empty())
    return "--emit-facts takes the flags of -p, or those after --, not both";
  if (const char *Name = given(Scan, {"--save", "--why-not", "--observed", "--algorithm",
                                      "--nvmove-opts", "--format", "--html", "--json",
                                      "--steps-max", "--suggest-load", "--suggest-save"}))
    return std::string(Name) + " says nothing to --emit-facts, which only records one file; "
                               "give it to the scan that reads the facts (--facts)";
  return "";
}

/// Options that one of the two algorithms does not look at.
std::string checkAlgorithm(const CLI::App &Scan, const Arguments &A) {
  bool Published = A.Algorithm == "nvmove";
  if (const char *Name = given(Scan, {"--why-not", "--observed", "--steps-max"}); Published && Name)
    return std::string(Name) +
           " is not known to the published algorithm; leave out "
           "--algorithm=nvmove, or " +
           Name;
  if (!Published && given(Scan, {"--nvmove-opts"}))
    return "--nvmove-opts is about the published algorithm; add --algorithm=nvmove";
  return "";
}

/// Without a function that loads, those that may are looked for, whether or not that was asked for.
std::string checkSuggest(const CLI::App &Scan, Arguments &A) {
  A.What = Command::Suggest;
  if (const char *Name = given(Scan, {"--load", "--save", "--why-not", "--observed", "--algorithm",
                                      "--nvmove-opts", "--html", "--json"});
      Name && (A.SuggestLoad || A.SuggestSave))
    return std::string(Name) + " says nothing to --suggest-load and --suggest-save, which "
                               "only list functions";
  if (A.Format == "html")
    return "suggestions are printed as text or json";
  return "";
}

} // namespace

void addScanOptions(CLI::App &Scan, Arguments &A) {
  addScanInputs(Scan, A);
  addScanQuestion(Scan, A);
  addScanOutputs(Scan, A);
  addExecution(Scan, A, "about 5 s");
  Scan.footer(ScanFooter);
}

std::string checkScan(const CLI::App &Scan, Arguments &A) {
  if (!A.EmitFacts.empty())
    return checkEmitFacts(Scan, A);
  const std::string *Outputs[] = {&A.Output, &A.HtmlFile, &A.JsonFile};
  for (const std::string *Each : Outputs)
    for (const std::string *Other : Outputs)
      if (Each < Other && !Each->empty() && *Each != "-" && isOneFile(*Each, *Other))
        return "two outputs have the same name: " + *Each;
  if (A.Load.empty() || A.SuggestLoad || A.SuggestSave)
    if (std::string Wrong = checkSuggest(Scan, A); !Wrong.empty())
      return Wrong;
  if (std::string Wrong = checkInputs(A); !Wrong.empty())
    return Wrong;
  return checkAlgorithm(Scan, A);
}

} // namespace nvmove::tool
