// The options of `nvmove move`: see Arguments.h.
#include "nvmove/Arguments.h"

#include <CLI/CLI.hpp>

namespace nvmove::tool {

namespace {

constexpr const char *MoveFooter = R"(
Examples:
  nvmove move --load load --workload steps --check ask book.c
  nvmove move --load loadData --save saveData --build 'make CC="$CC"' --run './server -p 7000' \
    --workload steps --check ask
  nvmove move --load read_state --build 'make CC="$CC"' --workload steps --check ask

Each line of --workload and --check is a step: a line that is typed into the program, or, behind "$ ", a
command of the shell that ends when it is done. Without --run each command starts the program itself.
The folder of -o keeps what was made: edit the port file there, and run the same command again.

Next:
  answer the questions in the port file, and run it again
  nvmove crash -- ./program          shows that a run survives every crash

Exit status:
  0  nothing was lost
  1  something was, the program does something else than before, or the plan is not complete
  2  wrong usage, it cannot be built, or the steps show nothing
  3  internal error
  130  interrupted)";

} // namespace

void addMoveOptions(CLI::App &App, Arguments &A) {
  MoveArguments &M = A.Move;
  App.add_option("files", A.Files, "C files to build with the flags after --")
      ->option_text("FILE...");
  App.add_option("-p,--database", A.DatabasePath,
                 "folder of compile_commands.json (default: what --build compiles)")
      ->option_text("DIR")
      ->group("Inputs");
  addLoadAndSave(App, A);
  const char *Program = "Program";
  auto Text = [&](const char *Name, std::string &Value, const char *Help, const char *Kind) {
    return App.add_option(Name, Value, Help)->option_text(Kind)->group(Program);
  };
  Text("--build", M.Build, "builds the program, with the compiler in $CC", "COMMAND");
  Text("-C,--source", M.Source, "the folder of the source (default: this one)", "DIR");
  Text("--run", M.Run, "starts the program, in the folder where it was built", "COMMAND");
  Text("--workload", M.Workload, "steps that change its data", "FILE")->required();
  Text("--check", M.Check, "steps that show its data, and change nothing", "FILE")->required();
  App.add_flag("--terminal", M.Terminal, "its input and output are a terminal")->group(Program);
  const char *Kills = "Kills";
  App.add_option("--kills", M.Kills, "how many, in all (default 100)")
      ->option_text("N")
      ->check(CLI::Range(1u, 1000000u))
      ->group(Kills);
  App.add_option("--method", M.Method, "undo or shadow (default: half of the kills with each)")
      ->option_text("NAME")
      ->check(CLI::IsMember({"undo", "shadow"}))
      ->group(Kills);
  App.add_flag("--any-end", M.AnyEnd, "a regular end of the program may change its data")
      ->group(Kills);
  App.add_option("--step-seconds", M.StepSeconds, "the most that a step may take (default 10)")
      ->option_text("N")
      ->check(CLI::Range(0.1, 86400.0))
      ->group(Kills);
  App.add_option("--seed", M.Seed, "other kills with another one")->option_text("N")->group(Kills);
  App.add_option("-o,--output", A.Output, "the folder for all that is made (default nvmove-moved)")
      ->option_text("DIR")
      ->group("Output");
  App.add_flag("-q,--quiet", A.Quiet, "only the verdict")->group("Output");
  addExecution(App, A, "about a minute");
  App.footer(MoveFooter);
}

std::string checkMove(Arguments &A) {
  if (A.Load.empty())
    return "which function loads the state? Name it with --load ('nvmove scan --suggest-load' "
           "lists those that may)";
  if (A.Move.Build.empty() && !A.DatabasePath.empty())
    return "a compile database does not say how the program is linked; give the command that "
           "builds "
           "it with --build 'make CC=\"$CC\"'";
  if (A.Move.Build.empty() && A.Files.empty())
    return "how is the program built? Give --build 'make CC=\"$CC\"', or its sources";
  if (!A.Move.Build.empty() && !A.Files.empty())
    return "give --build or source files, not both";
  if (A.Output.empty())
    A.Output = "nvmove-moved";
  return checkInputs(A);
}

} // namespace nvmove::tool
