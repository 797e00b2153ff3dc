// What the points-to engine keeps of a node: its set, the edges that copy it, the rules that wait for an
// address. PointsTo.h says what they mean.
#pragma once

#include "solve/pointsto/Memory.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/SparseBitVector.h"

#include <vector>

namespace nvmove::solve {

enum class Rule : uint8_t {
  Load,
  Store,
  FieldOf,
  ElementOf,
  Shift,
  Cast,
  Specialise,
  Built,
  CopyTo,
  CopyFrom,
  BytesTo,
  BytesFrom
};
struct Waiting {
  Rule What;
  NodeId Other;
  int64_t Delta;
  uint32_t Extra;      ///< FieldOf, Specialise: RecordKey. Load: flow number.
  uint32_t ShapeIndex; ///< Cast, Load, Store: index into Shapes.
  Site Where;
};
struct Node {
  llvm::SparseBitVector<> Set, Delta;
  llvm::SmallVector<NodeId, 2> Edges;
  std::vector<Waiting> Rules;
  bool Queued = false;
  bool Number = false, Character = false;
};

/// What rules and edges of a node have to be told when it becomes one with others.
struct Untold {
  std::vector<Waiting> Rules;
  std::vector<NodeId> Edges;
  llvm::SparseBitVector<> What;
};

} // namespace nvmove::solve
