// The kinds of findings: see Kinds.h.
#include "crash/Kinds.h"

#include <algorithm>

namespace nvmove::crash {
namespace {

constexpr Kind Kinds[] = {
#define NVM_CRASH_KIND(Name, What, Mend) {Name, What, Mend},
#include "crash/Kinds.def"
#undef NVM_CRASH_KIND
};

std::string dashed(llvm::StringRef Name) {
  std::string Made = Name.str();
  std::replace(Made.begin(), Made.end(), ' ', '-');
  return Made;
}

} // namespace

std::string Kind::rule() const { return "crash/" + dashed(Name); }

std::string Kind::page() const { return "docs/reference/crash-findings.md#" + dashed(Name); }

llvm::ArrayRef<Kind> allKinds() { return Kinds; }

const Kind *kindNamed(llvm::StringRef Name) {
  for (const Kind &K : Kinds)
    if (dashed(K.Name) == dashed(Name))
      return &K;
  return nullptr;
}

} // namespace nvmove::crash
