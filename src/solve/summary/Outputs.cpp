// See Outputs.h.
#include "solve/summary/Outputs.h"

#include "llvm/ADT/StringMap.h"

namespace nvmove::solve {

std::optional<Output> outputOf(llvm::StringRef Name) {
  static const llvm::StringMap<Output> Known = {
#define OUTPUT(NAME, WHERE, HOW) {#NAME, Output{WHERE, OutputWay::HOW}},
#include "solve/summary/Outputs.def"
#undef OUTPUT
  };
  auto It = Known.find(Name);
  return It == Known.end() ? std::nullopt : std::optional<Output>(It->second);
}

} // namespace nvmove::solve
