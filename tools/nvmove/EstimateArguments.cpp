// The options of `nvmove estimate`: see Arguments.h.
#include "nvmove/Arguments.h"

#include "llvm/ADT/StringRef.h"

#include <CLI/CLI.hpp>

namespace nvmove::tool {

namespace {

constexpr const char *EstimateFooter =
    "Examples:\n"
    "  nvmove scan -p build --load rdbLoad --format=json -o types.json\n"
    "  nvmove estimate --types types.json --build 'make CC=\"$CC\"' -- ./bench.sh\n"
    "  nvmove estimate -p build --load rdbLoad --build 'make CC=\"$CC\"' -- ./bench.sh\n"
    "  nvmove estimate --types types.json --build 'make CC=\"$CC\"' --profile pcm,cxl \\\n"
    "    --metric 'GET: ([0-9.]+) requests' --also 'AOF=./bench.sh --appendonly yes' -- "
    "./bench.sh\n"
    "\n"
    "The folder of the source is copied twice, and built by --build, a command of the shell, with\n"
    "the compiler in $CC: clang, then nvmove-cc --emulate. The command after -- runs in a fresh\n"
    "copy of what was built each time, and starts the program there (./server).\n"
    "'emulation itself' is a run that waits for nothing. A profile is dram, pcm, sttram, breeze,\n"
    "scm-1x, scm-2x, scm-4x, scm-8x, optane or cxl, with settings after it (pcm,write=600), or\n"
    "settings alone.\n"
    "\n"
    "Next:\n"
    "  nvmove plan -p DIR --load F -o port.nvmove.yaml\n"
    "\n"
    "Exit status:\n"
    "  0  estimated\n"
    "  2  wrong usage, it cannot be built, or a run failed\n"
    "  130  interrupted\n";

std::string checkAlso(const std::string &Text) {
  size_t Equals = Text.find('=');
  return Equals && Equals != std::string::npos && Equals + 1 < Text.size()
             ? std::string()
             : "expected NAME=COMMAND";
}

std::string checkLoses(const std::string &Text) {
  auto [Name, Number] = llvm::StringRef(Text).split('=');
  double Seconds;
  bool IsNumber = !Number.getAsDouble(Seconds) && Seconds >= 0 && Seconds < 1e9;
  return !Name.empty() && IsNumber ? std::string() : "expected NAME=SECONDS";
}

} // namespace

void addEstimateOptions(CLI::App &App, Arguments &A) {
  EstimateArguments &E = A.Estimate;
  App.add_option("--types", E.Types,
                 "the persistent types: what scan --format=json prints, a port file, or a list "
                 "(repeatable)")
      ->option_text("FILE")
      ->allow_extra_args(false);
  App.add_option("-p,--database", A.DatabasePath,
                 "in place of --types, with --load: what 'nvmove scan -p' finds")
      ->option_text("DIR");
  addLoadAndSave(App, A);
  App.add_option("--build", E.Build, "builds the program, with the compiler in $CC")
      ->option_text("COMMAND")
      ->required();
  App.add_option("-C,--source", E.Source, "the folder of the source (default: this one)")
      ->option_text("DIR");
  App.add_option("--profile", E.Profiles,
                 "memories to emulate, each by both models (default: pcm,sttram; repeatable)")
      ->option_text("P[,P...]")
      ->allow_extra_args(false);
  App.add_option("--metric", E.Metric,
                 "its group is a number that each run prints, more is better; "
                 "without it, seconds count")
      ->option_text("REGEX");
  App.add_option("--also", E.Also, "run this, too, on the plain program (repeatable)")
      ->option_text("NAME=COMMAND")
      ->allow_extra_args(false)
      ->check(CLI::Validator(checkAlso, ""));
  App.add_option("--loses", E.Loses,
                 "what a crash of the machine takes back of the run NAME of --also (repeatable)")
      ->option_text("NAME=SECONDS")
      ->allow_extra_args(false)
      ->check(CLI::Validator(checkLoses, ""));
  App.add_option("--rounds", E.Rounds, "runs of each, in turns (default 5)")
      ->option_text("N")
      ->check(CLI::Range(1u, 1000u));
  App.add_option("--format", A.Format, "text (default), json or html")
      ->option_text("NAME")
      ->check(CLI::IsMember({"text", "json", "html"}));
  App.add_option("-o,--output", A.Output, "write there instead of to stdout")->option_text("FILE");
  App.add_flag("-q,--quiet", A.Quiet, "no progress");
  App.footer(EstimateFooter);
}

std::string checkEstimate(Arguments &A) {
  bool Scans = !A.Load.empty() || !A.Save.empty() || !A.DatabasePath.empty();
  if (!A.Estimate.Types.empty() && Scans)
    return "--types has the types: --load, --save and -p, which look for them, have no meaning";
  if (A.Estimate.Types.empty() && A.Load.empty())
    return "which types would lie in persistent memory? Give --types FILE, or --load FUNCTION, "
           "which "
           "looks for them";
  return A.Flags.empty() ? "what is to be run? Put the command after --" : "";
}

} // namespace nvmove::tool
