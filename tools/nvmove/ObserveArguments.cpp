// The options of `nvmove observe`: see Arguments.h.
#include "nvmove/Arguments.h"

#include <CLI/CLI.hpp>

namespace nvmove::tool {

namespace {

constexpr const char *ObserveFooter =
    "Examples:\n"
    "  make CC='nvmove-cc --nvmove-observe'\n"
    "  nvmove observe --load load_notes -o notes.observed.json -- ./notes <commands\n"
    "  nvmove observe --load load_notes -o notes.observed.json -- ./bench.sh\n"
    "  nvmove observe --load load_notes --show first.json --show second.json -o both.json\n"
    "\n"
    "The command after -- runs as it is; each process of a program built with --nvmove-observe "
    "is\n"
    "observed. End servers by SIGTERM, or kill them: what was written last then counts.\n"
    "\n"
    "Next:\n"
    "  nvmove plan --load F --observed FILE -o port.nvmove.yaml\n"
    "\n"
    "Exit status:\n"
    "  0  observed\n"
    "  1  observed, with a warning: the command failed, or no load function, variable or "
    "allocation was seen\n"
    "  2  wrong usage, or nothing was observed\n";

} // namespace

void addObserveOptions(CLI::App &App, Arguments &A) {
  App.add_option("--load", A.Load, "the function that reads the state (repeatable)")
      ->option_text("F")
      ->allow_extra_args(false);
  App.add_option("-o", A.Output, "write the observation here, as JSON")->option_text("FILE");
  App.add_option("--show", A.Observe.Shows,
                 "add an observation, or a folder that NVMOVE_OBSERVE named (repeatable)")
      ->option_text("PATH")
      ->allow_extra_args(false);
  App.add_option("--program", A.Observe.Program, "of several observed programs, this one")
      ->option_text("NAME");
  App.add_flag("--all", A.Observe.All, "also print what was freed before any point");
  App.add_flag("-q,--quiet", A.Quiet, "print no table and no warnings");
  App.footer(ObserveFooter);
}

std::string checkObserve(Arguments &A) {
  return A.Flags.empty() && A.Observe.Shows.empty()
             ? "what is to be run? Put the command after --, or --show an observation"
             : "";
}

} // namespace nvmove::tool
