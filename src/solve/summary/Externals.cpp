// See Externals.h.
#include "solve/summary/Externals.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace nvmove::solve {

namespace {

/// Libraries name their own allocators after those of libc: SLmalloc, xmlStrdup, OPENSSL_free.
ExternalEffect namedAfterLibc(llvm::StringRef Name) {
  static constexpr std::pair<llvm::StringLiteral, ExternalEffect> Endings[] = {
      {"malloc", {Effect::Allocate, 0, -1, -1}},   {"calloc", {Effect::Allocate, 0, 1, -1}},
      {"realloc", {Effect::Resize, 0, 1, -1}},     {"strdup", {Effect::Duplicate, 0, -1, -1}},
      {"strndup", {Effect::Duplicate, 0, -1, -1}}, {"free", {Effect::Release, 0, -1, -1}},
  };
  std::string Lower = Name.lower();
  for (const auto &[Ending, Meaning] : Endings)
    if (llvm::StringRef(Lower).ends_with(Ending))
      return Meaning;
  return {};
}

} // namespace

ExternalEffect effectOf(llvm::StringRef Name) {
  static const llvm::StringMap<ExternalEffect> Table = {
#define EXTERNAL(NAME, EFFECT, ARG_A, ARG_B, ARG_C)                                                \
  {#NAME, ExternalEffect{Effect::EFFECT, ARG_A, ARG_B, ARG_C}},
#include "solve/summary/Externals.def"
  };
  auto It = Table.find(Name);
  return It == Table.end() ? namedAfterLibc(Name) : It->second;
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
