// What the members of a union have at each place of it (Flattener.h).
#pragma once

#include "Flattener.h"

#include <map>

namespace nvmove::plugin {

/// Words of members that are not volatile, by their place.
class UnionWords {
public:
  void add(const Word &W);

  /// Elements of an array without a length, which lie over what other members have up to \p End.
  void addBelow(const Word &Tail, const Words &Elements, uint64_t End);

  const std::map<uint32_t, Words> &at() const { return At; }

private:
  std::map<uint32_t, Words> At;
};

/// Bytes that are volatile in all members that have them.
class VolatileBytes {
public:
  explicit VolatileBytes(uint64_t Start) : Start(Start) {}

  void addMember(uint64_t Size) { Sizes.push_back(Size); }
  void add(const Word &W);
  void remove(uint64_t Place, uint64_t Count);

  /// Place and count of what is left.
  std::vector<std::pair<uint64_t, uint64_t>> ranges() const;

private:
  uint64_t Start; ///< of the union
  std::vector<uint64_t> Sizes;
  std::map<uint64_t, size_t> Seen; ///< of a byte: in how many members it is volatile
};

} // namespace nvmove::plugin
