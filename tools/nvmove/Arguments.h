// The command line of nvmove as plain data.
#pragma once

#include "support/Diagnostics.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nvmove::tool {

/// What the process ends with; documented in --help.
enum ExitStatus {
  ExitComplete = 0,      ///< Everything was analysed and types were found.
  ExitIncomplete = 1,    ///< Inputs were skipped, the analysis was stopped, or nothing was found.
  ExitUsage = 2,         ///< Wrong options or unusable input.
  ExitInternal = 3,      ///< A defect of nvmove.
  ExitInterrupted = 130, ///< A signal ended the work.
};

enum class Command {
  Scan,
  Suggest,
  Observe,
  Plan,
  Move,
  EmitFacts,
  DumpFacts,
  Crash,
  Pool,
  Stat,
  Estimate
};

/// Of `nvmove crash`; the program and its arguments are Arguments::Flags.
struct CrashArguments {
  std::string Model = "power";
  std::string File;                   ///< to trace, of a program that flushes by itself
  std::string TraceFile;              ///< explore this one; empty: run the program
  std::string Keep;                   ///< leave the trace there
  std::string Method;                 ///< "undo", "shadow", "auto", "both"; empty: both if possible
  std::string Check;                  ///< a shared object, or a shell command with {}
  std::vector<std::string> Misplaced; ///< words that should stand behind --
  std::string State;                  ///< of TraceFile: judge this one alone
  std::string Explain;                ///< this kind of finding, and run nothing
  uint64_t StatesMax = 1000000, EpochMax = 4096, Samples = 256, Seed = 1, InterruptEvery = 256;
  uint64_t PerPoint = 0;
  std::optional<uint64_t> TraceMax; ///< bytes; 0: no end
  double Seconds = 30;
  unsigned Jobs = 0; ///< 0: one for each processor
  bool Strict = false;
  bool FailFast = false;
};

enum class PoolVerb {
  Info,
  Check,
  Repair,
  Backup,
  Convert,
  Leaks,
  Collect,
  Dump,
  Resize,
  Create,
  Remove
};

/// Of `nvmove pool`.
struct PoolArguments {
  PoolVerb What = PoolVerb::Info;
  std::string Name; ///< of the verb
  std::string Path, Type;
  uint64_t Size = 0;
  std::string Copy;         ///< of `backup`, `convert`: the new file
  std::string Layouts, Map; ///< of `convert`
  double SecondsMax = 30;   ///< of `backup`
  bool AsOpened = false;    ///< of `check`: NVMOVE_OPEN=copy, as in a checker of `nvmove crash`
  // Of `repair`.
  bool DryRun = false, DropLog = false, NullDangling = false, ForgetTypes = false;
  uint64_t Root = 0; ///< file offset; 0: none
  std::string Undo;  ///< what a repair has kept
};

/// Of `nvmove estimate`; the command that is run is Arguments::Flags.
struct EstimateArguments {
  std::string Build, Source = ".", Metric;
  std::vector<std::string> Types; ///< Files.
  std::vector<std::string> Profiles = {"pcm,sttram"}, Also, Loses;
  unsigned Rounds = 5;
};

/// Of `nvmove observe`; the command that is run is Arguments::Flags.
struct ObserveArguments {
  std::vector<std::string> Shows; ///< Observations, and folders of what processes wrote.
  std::string Program;            ///< Of several; empty: there is but one.
  bool All = false;
};

/// Of `nvmove stat`.
struct StatArguments {
  std::string Target;
  double Every = 0, Seconds = 0; ///< 0: not given.
  unsigned Count = 0;            ///< The same.
  bool Resets = false, Lines = false, Off = false;
};

/// Of `nvmove move`.
struct MoveArguments {
  std::string Build, Source = ".", Run, Workload, Check, Method;
  bool Terminal = false, AnyEnd = false;
  unsigned Kills = 100;
  double StepSeconds = 10;
  uint64_t Seed = 1;
};

struct Arguments {
  Command What = Command::Scan;
  // Inputs.
  std::string DatabasePath;       ///< -p; empty: search.
  std::vector<std::string> Files; ///< Sources (scan) or .nvf files (facts).
  bool HasFlags = false;          ///< "--" was given.
  std::vector<std::string> Flags; ///< What followed it.
  std::vector<std::string> FactsGlobs;
  std::string EmitFacts;
  // Question.
  std::vector<std::string> Load, Save, WhyNot;
  bool SuggestLoad = false, SuggestSave = false; ///< Neither, and no Load: asked for by mistake.
  std::string Algorithm = "left-behind";
  std::string NvmoveOptimisations = "abcd";
  // Outputs.
  std::string Format = "text", Output, HtmlFile, JsonFile;
  support::ColorMode Color = support::ColorMode::Auto;
  bool Quiet = false, Verbose = false;
  bool Replace = false; ///< Of `plan`: what -o names may exist.
  std::string Observed; ///< Of `plan` and `scan`: an observation.
  std::string Against;  ///< Of `plan`: a port file to compare with.
  // Execution.
  unsigned Threads = 0;
  uint64_t StepsMax = 0; ///< 0: the default.
  bool KeepGoing = false, NoCache = false;
  bool IsPart = false; ///< Of another command, which says itself what comes next.
  EstimateArguments Estimate;
  ObserveArguments Observe;
  MoveArguments Move;
  CrashArguments Crash;
  PoolArguments Pool;
  StatArguments Stat;
};

/// Options that several commands have: the sources, the functions that load and save, how to work.
void addInputs(CLI::App &App, Arguments &A);
void addLoadAndSave(CLI::App &App, Arguments &A);
/// \p Usual: how long the analysis may work without --steps-max.
void addExecution(CLI::App &App, Arguments &A, const std::string &Usual);
/// Empty, or what is wrong with the combination of inputs.
std::string checkInputs(Arguments &A);

void addScanOptions(CLI::App &Scan, Arguments &A);
std::string checkScan(const CLI::App &Scan, Arguments &A);

void addPlanOptions(CLI::App &Plan, Arguments &A);
std::string checkPlan(Arguments &A);

void addObserveOptions(CLI::App &App, Arguments &A);
std::string checkObserve(Arguments &A);

void addMoveOptions(CLI::App &App, Arguments &A);
std::string checkMove(Arguments &A);

/// Describes `nvmove crash` to CLI11, and what CLI11 cannot say about it.
void addCrashOptions(CLI::App &Crash, Arguments &A);
/// Empty, or what is wrong with the combination.
std::string checkCrash(Arguments &A);

/// Describes `nvmove pool` to CLI11.
void addPoolOptions(CLI::App &Pool, Arguments &A);

void addStatOptions(CLI::App &App, Arguments &A);
std::string checkStat(Arguments &A);

void addEstimateOptions(CLI::App &App, Arguments &A);
std::string checkEstimate(Arguments &A);

/// Fills \p A. A value means that there is nothing left to do but end with that status: help and
/// version were printed to stdout, errors to stderr.
std::optional<int> parseArguments(int Count, char **Values, Arguments &A);

} // namespace nvmove::tool
