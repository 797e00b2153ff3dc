// What a port file should say, as data; src/plan thinks it out and WritePlan.h prints it.
//
// From the source alone: a scan names the persistent types, and the whole program, from main on, says
// where objects of these types are made, which variables lead to them, and where an answer leaves.
//
// Nouns: a Line is one entry of the port file with the reason why it stands there; a Question is what
// the source does not say, and stands in the file at the entry that it is about.
#pragma once

#include "solve/Result.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace nvmove::plan {

struct Line {
  std::string Name; ///< As the port file writes it.
  std::string Why;  ///< Half a sentence; "": the key says it all.
  SourcePlace Where;
};

struct RootLine {
  Line Of;
  bool InPool = false;
};

struct LoadLine {
  Line Of;
  std::optional<int64_t> Attached; ///< None: the function gives nothing, or a null pointer.
};

/// A key of the port file.
enum class Key {
  Program,
  Allocators,
  Bytes,
  Persistent,
  Beside,
  Volatile,
  Roots,
  Load,
  End,
  Commit,
  Atomic,
  Fields
};

struct Question {
  Key About = Key::Program;
  std::string Text;                 ///< One sentence, with its place in it.
  std::vector<std::string> Choices; ///< What may be done; the one that the plan took comes first.
  std::string Subject = {};         ///< A function whose allocations it is about; or "roots": all.
};

/// What a port file lacks (Drift.def).
enum class DriftKind {
#define DRIFT(NAME, ID, SAYS) NAME,
#include "plan/Drift.def"
#undef DRIFT
};

struct DriftLine {
  DriftKind Kind = DriftKind::Root;
  Line Of;
};

struct Plan {
  std::string Program; ///< The source with main.
  std::vector<Line> Allocators, Bytes, Persistent, Beside, Volatile, Commit, Atomic, End;
  std::vector<RootLine> Roots;
  std::vector<LoadLine> Loads;
  std::vector<Line> StaticFields, VolatileFields;
  std::vector<Question> Questions;
  std::set<std::string> NotRoots;    ///< Variables that only the running program sets.
  std::vector<DriftLine> Drift;      ///< What the file that it was compared with lacks.
  std::vector<PersistentType> Types; ///< That it is about.
  std::vector<std::string> Notes;    ///< Limits of this answer.
  bool Incomplete = false;           ///< The analysis was stopped before it was done.
};

} // namespace nvmove::plan
