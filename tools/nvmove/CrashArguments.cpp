// The options of `nvmove crash`: see Arguments.h.
#include "nvmove/Arguments.h"

#include "crash/Share.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>

namespace nvmove::tool {

namespace {

constexpr const char *CrashFooter = R"(
The program is built with nvmove-cc --nvmove-trace and runs, once with each method. Then every state that a
crash could have left in its pool is opened, recovered and judged: does recovery succeed, is the pool whole, is the
data what it was before or after the interrupted transaction, and does your checker agree?

Examples:
  nvmove-cc -g --nvmove-trace store.c -o store
  nvmove crash -- ./store put key value
  nvmove crash --method=undo -- ./store put key value       with one method, in half of the time
  nvmove crash --model=process --check './store-check {}' -- ./store fill 100
  nvmove crash --check ./libcheck.so -- ./store fill 100    int nvm_crash_check(NVM_POOL *): 0 is right
  nvmove-cc -g --nvmove-trace=raw log.c -o log              it maps a file, flushes and fences by itself
  nvmove crash --check './log --recover {} {acked}' -- ./log --append file
  nvmove crash --trace kept.trace --state 412:9a@0           one state again, as a finding names it

Next:
  nvmove crash --explain=KIND        what a kind of finding means, and what mends it
  nvmove pool check FILE             looks after the pool in operation: docs/guide/operations.md

Exit status:
  0  nothing was found, and each failure point was explored (with --strict: every state was judged)
  1  findings (warnings alone are none), or something of the run was not explored
  2  wrong usage, the program failed or opened no pool
  3  internal error)";

std::string checkSeconds(const std::string &Text) {
  constexpr double Most = 1e9; // no clock overflows
  double Seconds;
  if (llvm::to_float(Text, Seconds) && Seconds >= 0 && Seconds <= Most)
    return "";
  return Text + " is no number from 0 to 1000000000";
}

/// CLI11 takes -1 for the largest number that there is.
CLI::Validator numberIn(uint64_t Least, uint64_t Most) {
  return {[Least, Most](const std::string &Text) -> std::string {
            uint64_t Number;
            if (!llvm::StringRef(Text).getAsInteger(0, Number) && Number >= Least && Number <= Most)
              return "";
            return Text + " is no number from " + std::to_string(Least) + " to " +
                   std::to_string(Most);
          },
          ""};
}

CLI::Validator anyNumber() { return numberIn(0, UINT64_MAX); }

/// How much is explored. Of an amount that is given twice the last one counts.
void addAmounts(CLI::App &Crash, CrashArguments &C) {
  Crash.option_defaults()->take_last();
  Crash.add_option("--states-max", C.StatesMax, "states to judge at most (default 1000000)")
      ->option_text("N")
      ->check(anyNumber());
  Crash
      .add_option("--epoch-states", C.EpochMax,
                  "choices between two fences that are all taken (default 4096)")
      ->option_text("N")
      ->check(anyNumber());
  Crash.add_option("--samples", C.Samples, "of those between fences with more (default 256)")
      ->option_text("N")
      ->check(anyNumber());
  Crash
      .add_option(
          "--per-point", C.PerPoint,
          "explore a failure point, a fence after a place of the source reached by the same "
          "calls, N times only (default 0: always)")
      ->option_text("N")
      ->check(anyNumber());
  Crash
      .add_option("--trace-max", C.TraceMax,
                  "the trace ends where it would be longer (default 1073741824; 0: never)")
      ->option_text("BYTES")
      ->check(anyNumber());
  Crash
      .add_option("--interrupt-every", C.InterruptEvery,
                  "make recovery fail at each step in one of N states (default 256; 0: never)")
      ->option_text("N")
      ->check(anyNumber());
  Crash.add_option("--seed", C.Seed, "of the samples (default 1)")
      ->option_text("N")
      ->check(anyNumber());
  Crash
      .add_option("--seconds", C.Seconds,
                  "how long states are judged, those of new failure points first (default 30; 0: "
                  "to the end)")
      ->option_text("N")
      ->check(CLI::Validator(checkSeconds, ""));
  Crash
      .add_option(
          "--jobs", C.Jobs,
          "processes that judge (default: one for each processor; where --check is a command, "
          "1)")
      ->option_text("N")
      ->check(numberIn(1, crash::JobsMax));
  Crash.add_flag("--strict", C.Strict,
                 "exit 0 only if every state was judged, none left out or only sampled");
  Crash.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

} // namespace

void addCrashOptions(CLI::App &Crash, Arguments &A) {
  CrashArguments &C = A.Crash;
  Crash
      .add_option(
          "--model", C.Model,
          "power (default), process or disk: what a crash can leave; with power, lines of x86 that "
          "were not fenced may be lost")
      ->option_text("NAME")
      ->check(CLI::IsMember({"power", "process", "disk"}));
  Crash
      .add_option(
          "--method", C.Method,
          "undo, shadow, lat, latb, auto or both: how the program runs; lat and latb: one that "
          "stores "
          "through nvmove/wrap.h; both: undo and shadow; auto: once, as NVMOVE_METHOD says or "
          "libnvmove chooses (default: both, if a second run does the same as the first and "
          "NVMOVE_METHOD says nothing)")
      ->option_text("NAME")
      ->check(CLI::IsMember({"undo", "shadow", "lat", "latb", "auto", "both"}))
      ->take_last();
  Crash.add_option("--check", C.Check, "a shared object, or a command with {} for the pool's path")
      ->option_text("WHAT")
      ->check(CLI::Validator(
          [](const std::string &Text) -> std::string {
            return Text.empty() ? "it is empty; name a shared object or a command" : "";
          },
          ""));
  Crash
      .add_option("--file", C.File,
                  "of a program that flushes by itself: the file to trace (default: the first that "
                  "it maps)")
      ->option_text("FILE");
  Crash.add_option("--trace", C.TraceFile, "explore this trace (NVMOVE_TRACE=FILE), run nothing")
      ->option_text("FILE");
  Crash.add_option("--state", C.State, "of --trace: judge this state alone, as a finding names it")
      ->option_text("STATE");
  Crash
      .add_option("--keep", C.Keep,
                  "keep the trace (and FILE.image), for --trace; one with findings is kept anyway")
      ->option_text("FILE");
  addAmounts(Crash, C);
  Crash.add_flag("--fail-fast", C.FailFast, "stop at the first error");
  Crash.add_option("--explain", C.Explain, "say what a kind of finding means; all: list them")
      ->option_text("KIND");
  Crash.add_option("--format", A.Format, "text (default), json or sarif")
      ->option_text("NAME")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  Crash.add_option("-o,--output", A.Output, "write there instead of to stdout")
      ->option_text("FILE");
  Crash.add_flag("-q,--quiet", A.Quiet,
                 "the report alone: no progress, nothing of the program's own output");
  Crash.add_option("words", C.Misplaced)->group("");
  Crash.footer(CrashFooter);
}

std::string checkCrash(Arguments &A) {
  if (!A.Crash.Explain.empty())
    return "";
  if (!A.Crash.Misplaced.empty())
    return "put -- before the program: nvmove crash [options] -- " + A.Crash.Misplaced[0] + " ...";
  if (!A.Crash.State.empty() && A.Crash.TraceFile.empty())
    return "--state names a state of a trace; give that with --trace FILE";
  if (A.Crash.TraceFile.empty() && A.Flags.empty())
    return "which program? Name it after --, e.g. nvmove crash -- ./program args";
  if (!A.Crash.TraceFile.empty() && !A.Flags.empty())
    return "give a program to run or --trace FILE, not both";
  if (!A.Crash.TraceFile.empty() && !A.Crash.Keep.empty())
    return "--keep goes with a program to run; the trace is there already";
  if (!A.Crash.TraceFile.empty() && !A.Crash.File.empty())
    return "--file goes with a program to run; a trace is of one file";
  if (!A.Crash.TraceFile.empty() && A.Crash.TraceMax)
    return "--trace-max goes with a program to run; the trace is there already";
  constexpr uint64_t TraceLeast = 1 << 13;
  if (A.Crash.TraceMax && *A.Crash.TraceMax && *A.Crash.TraceMax < TraceLeast)
    return "--trace-max " + std::to_string(*A.Crash.TraceMax) + ": a trace has room for " +
           std::to_string(TraceLeast) + " bytes or more; 0: it has no end";
  if (!A.Crash.TraceFile.empty() && !A.Crash.Method.empty())
    return "--method goes with a program to run; a trace is of one method";
  llvm::StringRef Check = A.Crash.Check;
  if (!Check.empty() && !Check.ends_with(".so") && !Check.contains("{}"))
    return "--check " + A.Crash.Check +
           ": a command needs {} where the path of the pool, or of the "
           "file, is to stand";
  if (!A.Crash.State.empty() && !crash::State::parse(A.Crash.State))
    return "--state " + A.Crash.State + ": no name of a state; a finding prints it, as 412:9a@0";
  return "";
}

} // namespace nvmove::tool
