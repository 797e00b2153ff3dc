// Equal stacks and links of several runs become one.
#pragma once

#include "observe/Observation.h"

namespace nvmove::observe {

/// Fills an observation; a stack or a link that it has gets the sum. Of the most at a point it gets
/// the larger one of two runs; of the same run, where several chains have one name, the sum.
class Sum {
public:
  Sum(Observation &O, bool SameRun);
  /// The number of the stack with these calls.
  unsigned add(const Stack &S);
  void add(const Link &L);

private:
  static auto keyOf(const Link &L) {
    return std::make_tuple(L.Kind, L.Name, L.From, L.Offset, L.To);
  }
  void addMost(uint64_t &To, uint64_t Most) const;

  Observation &O;
  bool SameRun;
  std::map<std::vector<Call>, unsigned> Stacks;
  std::map<std::tuple<Link::Holder, std::string, unsigned, uint64_t, unsigned>, size_t> Links;
};

} // namespace nvmove::observe
