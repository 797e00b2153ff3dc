// The right states in a form that is quick to compare with: lines that are the same in all of
// them, and groups of transactions that are committing, each with its alternatives.
//
// Two transactions belong to one group when they change the same bytes or one depends on the other;
// groups are independent. One group's alternatives are the subsets that Transactions.h allows.
#pragma once

#include "crash/Transactions.h"

namespace nvmove::crash {

struct Wanted {
  uint64_t Line, Mask;
  char Bytes[LineSize];
};

struct Alternative {
  size_t Newest = SIZE_MAX; ///< number of the last transaction that is in it; none: of none
  std::vector<Wanted> Lines;
};

struct Group {
  std::vector<Alternative> Alternatives; ///< first: none of them
  std::map<uint64_t, uint64_t> Touched;  ///< line -> bytes that differ between alternatives
};

/// The groups of those that are committing now. A group of too many transactions has no
/// alternatives: its bytes are not compared.
std::vector<Group> groupsOf(const History &H);

} // namespace nvmove::crash
