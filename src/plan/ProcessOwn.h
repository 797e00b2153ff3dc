// What belongs to one process, and means nothing to the next one: descriptors, numbers of processes, and what
// handlers of signals set. A restart must not bring it back.
#pragma once

#include "plan/Everything.h"

#include <map>
#include <set>

namespace nvmove::plan {

class ProcessOwn {
public:
  explicit ProcessOwn(const Program &P);

  /// The function of the C library that made what \p Value has, in \p In; "": none.
  llvm::StringRef maker(FunctionId In, facts::Register Value) const;
  /// True for a function whose address is handed to `signal` and its kin: nobody calls it.
  bool isHandler(FunctionId Id) const { return Handlers.count(Id) != 0; }

private:
  bool look(FunctionId Id);

  const Program &P;
  std::map<std::pair<FunctionId, facts::Register>, llvm::StringRef> Makers;
  std::map<FunctionId, llvm::StringRef> Returning; ///< Functions that give such a value.
  std::set<FunctionId> Handlers;
};

} // namespace nvmove::plan
