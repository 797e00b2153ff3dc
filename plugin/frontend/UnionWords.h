// What the members of a union have at each place of it (Flattener.h).
#pragma once

#include "frontend/Flattener.h"

#include <map>
#include <set>

namespace nvmove::plugin {

/// What lies at one place: words, and the members that have one.
struct UnionPlace {
  Words Alternatives;
  std::set<size_t> Members;
};

/// Words of members that are not volatile, by their place. A member has a number, whichever.
class UnionWords {
public:
  void add(const Word &W, size_t Member);

  /// Elements of an array without a length, which lie over what other members have up to \p End.
  void addBelow(const Word &Tail, const Words &Elements, uint64_t End, size_t Member);

  const std::map<uint64_t, UnionPlace> &at() const { return At; }

private:
  void put(const Word &W, size_t Member);

  std::map<uint64_t, UnionPlace> At;
};

/// Bytes of a union that are volatile in each member that has them.
class VolatileBytes {
public:
  void add(const Word &W);
  void remove(uint64_t Place, uint64_t Count);
  /// A member has these bytes, of which \p Own are volatile.
  void meet(uint64_t Place, uint64_t Count, const VolatileBytes &Own);

  /// Place and count of what is left.
  std::vector<std::pair<uint64_t, uint64_t>> ranges() const;

private:
  std::set<uint64_t> Seen;
};

} // namespace nvmove::plugin
