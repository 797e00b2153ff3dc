// The points-to engine: inclusion-based, with byte offsets as fields and objects by allocation
// site.
//
// A Node is anything that may hold values: a register of some instance of a function, or a cell of
// an object. Its set holds Locations, an object and a byte offset in it (or AnyOffset). Values flow
// along edges between nodes; rules that depend on what an address points to wait at the node of the
// address and are applied to each location once (difference propagation).
//
// Input and sizes travel the same way as pointers, as locations of special objects: Input is data
// that was read, Handle is what it is read from, a Size stands for sizeof(T). So an allocation
// learns its type from the sizes that reach its size argument, through any number of wrappers.
//
// Memory that existed before the load has no allocation site. A pointer loaded from it points to
// the Pre object of its type: one for each record and pointer depth.
//
// Loads and casts are filtered: a location whose object is known to be of another type does not
// pass a cast it cannot have.
#pragma once

#include "solve/pointsto/Constraints.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/SparseBitVector.h"

#include <deque>
#include <map>
#include <set>
#include <vector>

namespace nvmove::solve {

class PointsTo {
public:
  PointsTo(const Program &P, uint64_t StepsMax);

  NodeId makeNodes(size_t Count);
  /// \p N is a number too small for a pointer: only input and sizes reach it.
  void restrictToNumbers(NodeId N) { Nodes[N].Number = true; }
  /// \p N is a character: of the numbers, only input reaches it.
  void restrictToInput(NodeId N) { Nodes[N].Number = Nodes[N].Character = true; }
  ObjectId makeObject(Object Made);
  ObjectId functionObject(FunctionId Id) { return marker(ObjectKind::Function, Id); }
  ObjectId externalObject(ExternalId Id) { return marker(ObjectKind::External, Id); }
  ObjectId globalObject(GlobalId Id);
  /// None when nothing names it yet.
  ObjectId knownGlobal(GlobalId Id) const {
    auto It = GlobalObjects.find(Id);
    return It == GlobalObjects.end() ? None : It->second;
  }
  ObjectId sizeObject(RecordKey Record) { return marker(ObjectKind::Size, Record); }
  ObjectId preObject(const Shape &Pointed);
  LocationId location(ObjectId In, int64_t Offset);

  void add(NodeId To, LocationId What);
  void addEdge(NodeId From, NodeId To);
  void addLoad(NodeId Address, NodeId To, const Shape &Type, uint32_t Flow, Site Where);
  /// \p Type: of the lvalue that is stored to, when it is known.
  void addStore(NodeId Address, NodeId From, const Shape &Type, Site Where);
  void addFieldOf(NodeId Base, NodeId To, int64_t Delta, RecordKey Record, Site Where);
  void addElementOf(NodeId Base, NodeId To);
  void addShift(NodeId Base, NodeId To, int64_t Delta);
  /// \p FromBytes: the programmer casts a character pointer.
  void addCast(NodeId From, NodeId To, const Shape &Type, bool FromBytes, Site Where);
  /// Of what \p From holds, only objects on the heap reach \p To.
  void addBuilt(NodeId From, NodeId To);
  void addCopyObject(NodeId ToAddress, NodeId FromAddress, uint64_t Size, Site Where);
  /// Copies characters: input travels, pointers do not.
  void addCopyBytes(NodeId ToAddress, NodeId FromAddress, Site Where);
  void fill(ObjectId What, Site Where); ///< Its whole content is input.
  /// Declares the surest type of an object; the first place is kept for the chain.
  void setType(ObjectId What, RecordKey Record, Site Where);

  /// All of the program is visited: its variables hold nothing but what it stores there. Circles of
  /// copies become one node.
  /// \p After: steps, before these are looked for the first time.
  bool isComplete() const { return Complete; }
  void setComplete(uint64_t After = 100'000) {
    Complete = true;
    CollapseAt = After;
  }
  /// The static initialisers are done: from now on constants stay as they are.
  void capture() { Captured = true; }
  /// Propagates until nothing changes. False when the step budget ran out.
  bool run();

  const llvm::SparseBitVector<> &pointees(NodeId N) const { return Nodes[same(N)].Set; }
  /// A copy of the set, for loops that may make it grow.
  std::vector<LocationId> snapshot(NodeId N) const;
  const Location &at(LocationId Id) const { return Locations[Id]; }
  Object &object(ObjectId Id) { return Objects[Id]; }
  const Object &object(ObjectId Id) const { return Objects[Id]; }
  size_t objects() const { return Objects.size(); }
  NodeId cell(ObjectId In, int64_t Offset);
  const std::vector<Feed> &feeds(NodeId Cell) const;
  /// Work done so far: sets passed along edges and rules applied.
  uint64_t steps() const { return Steps; }
  const std::map<ObjectId, Site> &filled() const { return Filled; }

  ObjectId inputObject() const { return 0; }
  ObjectId handleObject() const { return 1; }
  LocationId input() const { return 0; }
  LocationId handle() const { return 1; }
  /// True when whoever holds \p What keeps the object: not so for a pointer to text in the middle
  /// of a record.
  bool keeps(Location What) const;
  /// True when \p N may point into \p What.
  bool pointsInto(NodeId N, ObjectId What) const;
  bool holds(NodeId N, LocationId What) const { return pointees(N).test(What); }

  /// Function pointers that memory older than the load may hold, by Flow number of a load.
  std::vector<const llvm::SparseBitVector<> *> Flows;

private:
  struct ObjectCopy {
    int64_t From, To;
    uint64_t Size;
    ObjectId Into;
    Site Where;
  };

  // Cycles.cpp
  void collapse();
  void unite(llvm::ArrayRef<NodeId> Circle, std::vector<Untold> &Later);
  /// The node that stands for \p N.
  NodeId same(NodeId N) const { return N < Same.size() ? Same[N] : N; }

  ObjectId marker(ObjectKind Kind, uint32_t Id);
  void enqueue(NodeId N);
  void wait(NodeId At, const Waiting &R);
  void apply(const Waiting &R, LocationId What);
  NodeId whole(ObjectId In);
  void applyLoad(const Waiting &R, Location What);
  bool mayStore(ObjectId In) const;
  void applyStore(const Waiting &R, Location What);
  RecordKey keptAs(Location Where, const Shape &StoredAs) const;
  bool isBaseOf(const Object &What, RecordKey Longer) const;
  void specialise(const Waiting &R, Location What);
  void applyShift(const Waiting &R, Location What);
  ObjectId behindHeader(Location What, int64_t Delta);
  void applyFieldOf(const Waiting &R, Location What);
  void applyCast(const Waiting &R, Location What);
  void copyBytes(Location To, Location From, Site Where);
  void copyObjects(Location To, Location From, uint64_t Size, Site Where);
  void copyCell(const ObjectCopy &Copy, ObjectId From, int64_t Offset);
  int64_t normalise(ObjectId In, int64_t Offset, bool Stepped = false);
  bool beginsField(const Object &What, int64_t Offset) const;
  bool fits(RecordKey Known, int64_t Offset, RecordKey Wanted);
  bool castPasses(const Object &What, int64_t Offset, RecordKey Record);
  bool takes(const Node &N, LocationId What) const;
  void flow(const llvm::SparseBitVector<> &What, NodeId To);
  void addFeed(NodeId Cell, NodeId From, Site Where);
  void add(NodeId To, ObjectId In, int64_t Offset) { add(To, location(In, Offset)); }

  const Program &P;
  std::deque<Node> Nodes;
  std::vector<NodeId> Same; ///< By NodeId; shorter than Nodes: the others stand for themselves.
  uint64_t CollapseAt = 0;  ///< Steps.
  std::deque<Object> Objects;
  std::vector<Location> Locations;
  llvm::DenseMap<std::pair<uint32_t, int64_t>, LocationId> LocationIds;
  std::deque<NodeId> Work; ///< First in, first out: what comes to a node gathers before it goes on.
  uint64_t Steps = 0;
  const uint64_t StepsMax;
  bool Captured = false, Complete = false;
  std::map<std::pair<std::pair<RecordKey, RecordKey>, int64_t>, bool> Fits; ///< Memory of fits().
  std::vector<Shape> Shapes;
  llvm::DenseMap<uint32_t, ObjectId> GlobalObjects;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, ObjectId> Markers;
  llvm::DenseMap<std::pair<ObjectId, RecordKey>, ObjectId> Special;
  std::map<std::tuple<unsigned, unsigned, uint32_t>, ObjectId> PreObjects;
  std::map<ObjectId, std::vector<ObjectCopy>> Copies;
  llvm::DenseMap<NodeId, std::vector<Feed>> Feeds;
  llvm::DenseSet<std::pair<NodeId, NodeId>> KnownEdges;
  std::map<ObjectId, Site> Filled;
  llvm::SparseBitVector<> Numbers; ///< Locations of Input, Handle and sizes.
};

} // namespace nvmove::solve
