// What happened to each write, and what could not be covered: counters, optimisation remarks,
// warnings. Nothing is skipped without being counted under its reason.
#pragma once

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"

#include <array>

namespace nvmove::plugin {

enum class Outcome {
  Noted,     ///< a note stands before it
  NotedOnce, ///< one note before the loop serves every iteration
  Stack,
  Global,
  VolatileHeap,
  VolatileField,
  OtherSpace,
  Null,
  Covered,        ///< its bytes are noted on every path to it
  NothingWritten, ///< a call that an .unsafe file describes as writing nothing
  Warned,         ///< cannot be covered: a warning said so
  Count
};

class Report {
public:
  explicit Report(llvm::Module &M) : M(M) {}

  void count(Outcome What, llvm::Instruction &At, llvm::OptimizationRemarkEmitter &Remarks);

  /// A warning at \p At, a write that no note covers: once for each place in the source.
  void warn(llvm::Instruction &At, const llvm::Twine &Message);
  /// The same, once for each \p Subject in this module.
  void warnOnce(llvm::StringRef Subject, llvm::Instruction &At, const llvm::Twine &Message);
  /// The same where the address of \p F is taken, also in a constant.
  void warnOfTaken(llvm::Function &F, const llvm::Twine &Message);

  /// True when some note was placed.
  bool placedNotes() const;

  /// One line: "nvmove: FILE: 12 writes: 7 noted (...), 5 skipped (4 stack, 1 covered)".
  void summary(llvm::raw_ostream &OS) const;

private:
  llvm::Module &M;
  std::array<unsigned, static_cast<size_t>(Outcome::Count)> Counts{};
  llvm::StringSet<> Warned;
};

} // namespace nvmove::plugin
