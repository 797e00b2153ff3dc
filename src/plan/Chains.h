// From the chains of calls of an observed run to the functions, calls and objects of the source.
#pragma once

#include "observe/Observation.h"
#include "plan/Everything.h"
#include "plan/Names.h"

#include <map>
#include <string>
#include <vector>

namespace nvmove::plan {

/// What an allocation of the run may have made.
struct MadeObjects {
  std::vector<ObjectId> Objects;
  bool FromSeveral = false; ///< Of several calls in one line: which of them it was is not known.
  bool CallFound = false;   ///< The source has a call that may be the run's.

  bool areKnown() const { return !Objects.empty() && !FromSeveral; }
};

class Chains {
public:
  explicit Chains(const Program &P);

  /// The function of that name; of several the one whose file has most of the path's end in common.
  FunctionId functionOf(const observe::Call &C) const;
  /// The call that \p C is, of the function \p Callee; "": of the C library. Null: there are several
  /// in that line, or none.
  const facts::Instruction *callAt(FunctionId Id, const observe::Call &C,
                                   llvm::StringRef Callee) const;
  /// The program's own calls of a chain.
  static std::vector<observe::Call> callsOf(const observe::Stack &S);
  /// The objects that the allocation at the end of the chain \p Calls may be.
  MadeObjects madeBy(const Everything &All, const std::vector<observe::Call> &Calls) const;

private:
  /// All in that line.
  std::vector<const facts::Instruction *> callsAt(FunctionId Id, const observe::Call &C,
                                                  llvm::StringRef Callee) const;
  bool isOnChain(const Everything &All, InstanceId In, const std::vector<observe::Call> &Calls,
                 size_t At, size_t First) const;

  const Program &P;
  const Names Say;
  std::map<std::string, std::vector<FunctionId>> ByName;
};

/// The names of functions in \p Named, whose entries are `f` or `file.c:f`: a run knows no files of them.
std::vector<std::string> observedNames(const std::vector<std::string> &Named);

/// Objects on the heap that the run shows to be no data: the run made them, a variable led to them at a
/// point, and no word that led to the data did. Objects of their types that the run did not make are
/// no data, either, unless some object of the type was. Empty if the run did not enter \p Load.
std::set<ObjectId> seenApart(const Program &P, const Everything &All,
                             const observe::Observation &Seen,
                             const std::vector<std::string> &Load);

} // namespace nvmove::plan
