// See Externals.h.
#include "solve/Externals.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace nvmove::solve {

ExternalEffect effectOf(llvm::StringRef Name) {
  static const llvm::StringMap<ExternalEffect> Table = {
#define EXTERNAL(NAME, EFFECT, ARG_A, ARG_B, ARG_C)                                                \
  {#NAME, ExternalEffect{Effect::EFFECT, ARG_A, ARG_B, ARG_C}},
#include "solve/Externals.def"
  };
  auto It = Table.find(Name);
  return It == Table.end() ? ExternalEffect() : It->second;
}

bool writesOnly(const facts::Instruction &Call, const ExternalEffect &E) {
  return E.What == Effect::Open && E.A >= 0 && (Call.Delta >> E.A & 1);
}

bool neverReturns(llvm::StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("exit", "_exit", "_Exit", "quick_exit", "abort", true)
      .Cases("longjmp", "_longjmp", "siglongjmp", "pthread_exit", true)
      .Cases("err", "errx", "verr", "verrx", true)
      .Cases("__assert_fail", "__assert", "unreachable", "trap", "g_assertion_message", true)
      .Default(false);
}

} // namespace nvmove::solve
