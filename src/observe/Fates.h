// What became of the blocks of each stack, and whether they belong to a program's data.
//
// The data are what the load function makes. A variable's word leads to the data if the links that
// were there at the first point behind the load go from it to a block that the load made, and not
// only through what another such word links to. A stack is of the data if links lead to its blocks
// from such words, at any point.
//
// Links are known between stacks only. So a stack that has blocks inside and outside of the data is
// of the data; Fate says how many of its blocks are linked from where.
#pragma once

#include "observe/Observation.h"

#include <set>

namespace nvmove::observe {

/// A word of a variable, of the frames of a function or of the blocks of a stack.
struct Word {
  Link::Holder Kind = Link::Holder::Variable;
  std::string Name;  ///< Of a variable or a function.
  unsigned From = 0; ///< Of blocks: the stack.
  uint64_t Offset = 0;

  auto key() const { return std::tie(Kind, Name, From, Offset); }
  bool operator<(const Word &Other) const { return key() < Other.key(); }
};

struct Fate {
  bool Loaded = false; ///< The load function is among the calls.
  bool OfData = false;
  std::map<Word, uint64_t> From;    ///< What links to its blocks; links, the most of a point.
  uint64_t FromData = 0, Other = 0; ///< Links, the most of a point, by holder.
};

struct Fates {
  std::vector<Fate> Of;        ///< By stack.
  std::vector<Word> DataWords; ///< That lead to the data.
  std::vector<Word> Indirect;  ///< That do, but only through what one of those links to.
  bool LoadRan = false;        ///< Some stack has the load function.
};

/// \p Load: names of functions; none: every variable's word leads to data. \p Apart: stacks that are known
/// to be no data; what only they link to is none, either.
Fates judge(const Observation &O, const std::vector<std::string> &Load,
            const std::set<unsigned> &Apart = {});

} // namespace nvmove::observe
