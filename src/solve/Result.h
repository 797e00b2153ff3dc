// What solve found, as data; src/report prints it and decides nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvmove {

/// A place in the user's source. Line and Column count from 1; Line 0: unknown.
struct SourcePlace {
  std::string File;
  unsigned Line = 0;
  unsigned Column = 0;
};

/// One link of the chain that proves a type persistent, in the order load function -> call ->
/// allocation -> store -> root.
struct EvidenceStep {
  enum class Kind { Load, Call, Allocation, Read, Type, Store, Root };
  Kind What = Kind::Load;
  SourcePlace Where;
  std::string Text; ///< One sentence without a full stop, e.g. "allocated here as 'struct dict'".
};

enum class Confidence { High, Medium, Low };

/// What an observed run and the source say together of a type.
enum class RunSays {
  Both,        ///< Proved, and objects of it were data in the run.
  Proved,      ///< By the source alone: the load of the run made none.
  Observed,    ///< By the run alone.
  Contradicted ///< Proved, but what the load of the run made was no data behind it.
};

struct SeenInRun {
  RunSays What = RunSays::Proved;
  uint64_t Made = 0, Linked = 0; ///< Objects; and data at a time, the most.
  std::string Why;               ///< One sentence without a full stop.
};

struct PersistentType {
  std::string Name;                 ///< Tag or typedef, without "struct".
  std::vector<std::string> Aliases; ///< Its other spellings.
  bool Union = false;
  SourcePlace Definition;
  uint64_t SizeBytes = 0;
  Confidence Sureness = Confidence::High;
  std::string Why; ///< One sentence: the reason for the confidence.
  std::vector<EvidenceStep> Evidence;
  std::optional<SeenInRun> Run; ///< None: no run was compared.
};

/// An input that took no part in the answer.
struct SkippedInput {
  std::string File;
  std::string Why;
};

/// A call through a pointer whose targets nobody could name.
struct UnresolvedCall {
  SourcePlace Where;
  std::string Function; ///< The function that makes the call.
  std::string Why;
};

struct ScanStats {
  uint64_t TranslationUnits = 0;
  uint64_t FromCache = 0;
  uint64_t Lines = 0;
  uint64_t FunctionsTotal = 0;
  uint64_t FunctionsVisited = 0;
  uint64_t TypesTotal = 0; ///< Record types defined by the program's own files.
  double Seconds = 0;      ///< Wall time of the whole command.
  double SolveSeconds = 0;
  uint64_t PeakMemoryBytes = 0;
};

struct ScanResult {
  std::string Program;   ///< Name of the scanned tree.
  std::string Algorithm; ///< "left-behind" or "nvmove".
  std::vector<std::string> Load;
  std::vector<std::string> Save;
  std::vector<PersistentType> Types;
  std::vector<SkippedInput> Skipped;
  std::vector<UnresolvedCall> UnresolvedCalls;
  std::vector<std::string> Notes; ///< Bounds that were hit and other limits of this answer.
  bool Incomplete = false; ///< Stopped before it was done, or in doubt about a link; a note says.
  ScanStats Stats;
};

/// A function that may load the state, or save it.
struct Suggestion {
  std::string Name; ///< As --load takes it: "file.c:name" where several have the name.
  SourcePlace Where;
  double Points = 0;                ///< Only to compare with others of the same scan.
  std::vector<std::string> Reasons; ///< Each part of a sentence: "opens a file".
  std::vector<std::string> Types;   ///< What a load leaves behind.
};

/// What was asked for; the best first.
struct Suggestions {
  std::optional<std::vector<Suggestion>> Loads, Saves;
};

} // namespace nvmove
