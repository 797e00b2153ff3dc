// How often the code around a note runs, as far as the function itself shows it: that decides what
// of the note stands inline. Calls cost text where they are made and time where they are taken.
#pragma once

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/LoopInfo.h"

namespace nvmove::plugin {

enum class Heat {
  Rare,   ///< a call asks everything; a group is as Once
  Once,   ///< outside of loops: the range test is inline, what follows it beside it
  Looped, ///< in a loop: what follows the range test is moved out of the way
  Hot     ///< in a small innermost loop with few notes: the filter is inline, too
};

/// Of notes, the heat; asked before any is emitted, which splits blocks.
class Heats {
public:
  /// \p Frequency is asked when the first note is.
  Heats(llvm::LoopInfo &Loops, llvm::function_ref<llvm::BlockFrequencyInfo &()> Frequency)
      : Loops(Loops), Frequency(Frequency) {}

  /// Another note stands before \p I.
  void add(const llvm::Instruction &I);

  Heat of(const llvm::Instruction &I) const;

private:
  bool isRare(const llvm::BasicBlock &B) const;
  bool isSmall(const llvm::Loop &L) const;

  llvm::LoopInfo &Loops;
  llvm::function_ref<llvm::BlockFrequencyInfo &()> Frequency;
  llvm::DenseMap<const llvm::Loop *, unsigned> NotesIn; ///< innermost around them
  unsigned SeveralNoted = 0; ///< innermost loops with more notes than one
};

} // namespace nvmove::plugin
