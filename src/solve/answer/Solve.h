// Thinks about the facts of a whole program and names its persistent types.
#pragma once

#include "facts/Facts.h"
#include "solve/Result.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nvmove::solve {

enum class Algorithm {
  LeftBehind, ///< What the load leaves behind (default).
  Nvmove,     ///< The paper's algorithm (NVMOVE, section 3), for comparison.
};

struct Options {
  /// At least one; "file.c:name" picks one of several statics, "object.o:name" or "folder:name" one
  /// of several programs.
  std::vector<std::string> Load;
  std::vector<std::string> Save;
  std::vector<std::string> WhyNot; ///< Types about which a note says why they are not reported.
  Algorithm Which = Algorithm::LeftBehind;
  /// Work of the points-to engine before it gives up: about 5 s; Redis needs a hundred thousand.
  uint64_t StepsMax = 15'000'000;
  /// The paper's optimisations, all on as published: (a) skip functions that take no pointer,
  /// (b) memcpy and friends are assignments, (c) libc bodies are not visited, (d) each body once.
  bool SkipPointerless = true, LibraryAssigns = true, SkipLibc = true, VisitOnce = true;
};

/// A load or save function that does not exist or is ambiguous.
struct UnknownFunction : llvm::ErrorInfo<UnknownFunction> {
  static char ID;
  std::string Name;
  std::vector<std::string> Candidates; ///< Ambiguous: "file.c:name". Unknown: names spelt alike.
  bool Ambiguous = false;
  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;
};

/// Fills Types, UnresolvedCalls, Notes and the solver's part of Stats; the caller adds the rest.
llvm::Expected<ScanResult> solve(std::vector<facts::TranslationUnit> Units, const Options &O);

} // namespace nvmove::solve
