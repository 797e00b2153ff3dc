// What a program did with its memory while it ran: runtime/observe writes it down, process by
// process; this room reads that, names it by the source, sums it over runs and says what it means.
//
// Nouns: a Stack stands for all blocks that one chain of calls allocated; a Call is a place in the
// source. A Link is counted between stacks, not between blocks: from a word of a variable, of the
// blocks of a stack or of a waiting function's frame, to blocks of a stack. A point is a moment at
// which the program waited for input.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace nvmove::observe {

struct Call {
  std::string Function, File; ///< No file: there is no debug information.
  unsigned Line = 0;

  auto key() const { return std::tie(Function, File, Line); }
  bool operator<(const Call &Other) const { return key() < Other.key(); }
};

/// One that allocated nothing has only made points.
struct Stack {
  std::vector<Call> Calls; ///< The innermost first: the call of malloc.
  uint64_t Made = 0, Bytes = 0;
  uint64_t FreedEarly = 0;    ///< Before any point.
  uint64_t FreedUnlinked = 0; ///< No point found them linked from a variable.
  uint64_t FreedLinked = 0;
  uint64_t Left = 0;                      ///< When the runs ended.
  uint64_t AliveMost = 0, LinkedMost = 0; ///< At a point.
  uint64_t SizeLeast = 0, SizeMost = 0;
  uint64_t WaitFirst = 0, WaitLast = 0; ///< Points that these calls made; 0: none.
};

struct Link {
  enum class Holder { Variable, Blocks, Frame };
  Holder Kind = Holder::Variable;
  std::string Name;  ///< Of the variable with its member ("server.db"), or of the function.
  unsigned From = 0; ///< Of Blocks: the stack.
  uint64_t Offset = 0;
  unsigned To = 0;
  uint64_t Most = 0;  ///< At a point.
  uint64_t Since = 0; ///< The first point that found it, of the run that found it first.
  uint64_t Until = 0; ///< The last one.
};

struct Observation {
  std::string Program;
  uint64_t Runs = 0, Killed = 0, Points = 0;
  std::map<std::string, std::string> Files; ///< Sources by path, with the MD5 of their text.
  std::vector<Stack> Stacks;
  std::vector<Link> Links;
};

/// Adds what a process wrote to \p Path. The program's file is read for the names; it must be the
/// one that ran.
llvm::Error addRaw(Observation &O, const std::string &Path);

/// \p SameRun: both are parts of one run.
void addObservation(Observation &O, const Observation &Other, bool SameRun = false);

/// As text, and from it; \p Name is for the error.
std::string toJson(const Observation &O);
llvm::Expected<Observation> fromJson(llvm::StringRef Text, llvm::StringRef Name);
llvm::Expected<Observation> readObservation(const std::string &Path);

} // namespace nvmove::observe
