// The options of `nvmove plan`: see Arguments.h.
#include "nvmove/Arguments.h"

#include "llvm/Support/FileSystem.h"

#include <CLI/CLI.hpp>

namespace nvmove::tool {

namespace {

constexpr const char *PlanFooter = R"(
Examples:
  nvmove plan -p build --load rdbLoad --save rdbSave -o server.nvmove.yaml
  nvmove plan --load load jobs.c -- -std=c99
  nvmove plan -p build --load rdbLoad --check server.nvmove.yaml

What the source does not say is a QUESTION in the file, with the choices. Read the file before it is
used: docs/reference/plan.md says how each line was found, and what is not looked for.

Next:
  nvmove-cc --nvmove-port=FILE ...   builds the program with it
  nvmove crash -- ./program          shows that a run survives every crash

Exit status:
  0  the plan is whole; it may have questions
  1  the analysis was stopped, inputs were skipped, or there is no root; --check: findings
  2  wrong usage or unusable input
  3  internal error)";

} // namespace

void addPlanOptions(CLI::App &App, Arguments &A) {
  addInputs(App, A);
  addLoadAndSave(App, A);
  App.add_option("--observed", A.Observed, "a run of the program, as 'nvmove observe -o' wrote it")
      ->option_text("FILE");
  App.add_option("-o,--output", A.Output, "write there instead of to stdout")
      ->option_text("FILE")
      ->check([](const std::string &Name) {
        if (Name.empty())
          return "the name of a file is missing";
        return llvm::sys::fs::is_directory(Name) ? "this is a folder" : "";
      })
      ->group("Output");
  App.add_option("--check", A.Against, "say what this port file lacks, and write nothing")
      ->option_text("FILE")
      ->group("Output");
  App.add_option("--format", A.Format, "of --check: text (default) or sarif, to stdout")
      ->option_text("NAME")
      ->check(CLI::IsMember({"text", "sarif"}))
      ->group("Output");
  App.add_flag("--replace", A.Replace, "the file of -o may exist: its edits are lost")
      ->group("Output");
  App.add_flag("-q,--quiet", A.Quiet, "no summary, no warnings")->group("Output");
  addExecution(App, A, "about a minute");
  App.footer(PlanFooter);
}

std::string checkPlan(Arguments &A) {
  if (A.Load.empty())
    return "which function loads the state? Name it with --load ('nvmove scan --suggest-load' "
           "lists "
           "those that may)";
  if (!A.Against.empty() && (!A.Output.empty() || A.Replace))
    return "--check writes nothing: -o and --replace have no meaning";
  if (A.Against.empty() && A.Format != "text")
    return "--format says how --check tells what it finds; a plan is a port file";
  return checkInputs(A);
}

} // namespace nvmove::tool
