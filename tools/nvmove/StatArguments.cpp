// The options of `nvmove stat`: see Arguments.h.
#include "nvmove/Arguments.h"

#include <CLI/CLI.hpp>
#include <cmath>

namespace nvmove::tool {

namespace {

constexpr const char *StatFooter =
    "Examples:\n"
    "  nvmove stat server.pool                 what was counted since the pool was opened\n"
    "  nvmove stat --every 1 4711              what is counted in each second, until Ctrl-C\n"
    "  nvmove stat --reset server.pool         count from now on\n"
    "  nvmove stat --lines --seconds 10 4711   in which lines of the source data are stored\n"
    "\n"
    "The process is not stopped and needs no preparation. --lines slows it while it watches, and "
    "needs debug\n"
    "information (-g) to name lines.\n"
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  2  wrong usage, no such process, or it may not be looked at\n";

constexpr double SecondsMax = 86400;

} // namespace

void addStatOptions(CLI::App &App, Arguments &A) {
  StatArguments &S = A.Stat;
  App.add_option("target", S.Target, "a process (its number), or a pool that a process has open")
      ->option_text("PID|POOL");
  App.add_option("--every", S.Every, "print what is counted in each so many seconds")
      ->option_text("SECONDS")
      ->check(CLI::Range(0.01, SecondsMax));
  App.add_option("--count", S.Count, "so many times (default: until Ctrl-C)")
      ->option_text("N")
      ->check(CLI::Range(1u, UINT32_MAX));
  App.add_flag("--reset", S.Resets, "count from now on, for whoever looks");
  App.add_flag("--lines", S.Lines, "watch the process, and print the lines that store");
  App.add_option("--seconds", S.Seconds, "how long --lines watches (default 5)")
      ->option_text("SECONDS")
      ->check(CLI::Range(0.01, SecondsMax));
  App.add_flag("--off", S.Off, "end what a --lines that was killed has left on");
  App.add_option("--format", A.Format, "text (default), or json: one object in each line")
      ->option_text("NAME")
      ->check(CLI::IsMember({"text", "json"}));
  App.footer(StatFooter);
}

std::string checkStat(Arguments &A) {
  const StatArguments &S = A.Stat;
  if (A.HasFlags)
    return "stat runs no program: nothing may follow --";
  if (S.Target.empty())
    return "which process? Give its number, or the path of a pool that it has open";
  if (std::isnan(S.Every) || std::isnan(S.Seconds))
    return "--every and --seconds take a number of seconds";
  if ((S.Every > 0) + S.Resets + S.Lines + S.Off > 1)
    return "give one of --every, --reset, --lines and --off, not several";
  if (S.Count && S.Every <= 0)
    return "--count goes with --every";
  if (S.Seconds > 0 && !S.Lines)
    return "--seconds goes with --lines";
  return "";
}

} // namespace nvmove::tool
