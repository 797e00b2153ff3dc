// Nodes, objects, sets and their propagation. The rules are in Rules.cpp. See PointsTo.h.
#include "solve/pointsto/PointsTo.h"

#include "solve/Heuristics.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

namespace {} // namespace

PointsTo::PointsTo(const Program &P, uint64_t StepsMax) : P(P), StepsMax(StepsMax) {
  Flows.push_back(nullptr); // Flow 0: none.
  Object Special;
  Special.Kind = ObjectKind::Input;
  location(makeObject(Special), 0);
  Special.Kind = ObjectKind::Handle;
  location(makeObject(Special), 0);
}

NodeId PointsTo::makeNodes(size_t Count) {
  NodeId First = static_cast<NodeId>(Nodes.size());
  Nodes.resize(Nodes.size() + Count);
  return First;
}

ObjectId PointsTo::makeObject(Object Made) {
  Objects.push_back(std::move(Made));
  return static_cast<ObjectId>(Objects.size() - 1);
}

LocationId PointsTo::location(ObjectId In, int64_t Offset) {
  auto [It, New] = LocationIds.try_emplace({In, Offset}, static_cast<LocationId>(Locations.size()));
  if (New) {
    Locations.push_back({In, Offset});
    ObjectKind Kind = Objects[In].Kind;
    if (Kind == ObjectKind::Input || Kind == ObjectKind::Handle || Kind == ObjectKind::Size)
      Numbers.set(It->second);
  }
  return It->second;
}

/// The one object of \p Kind that stands for \p Id.
ObjectId PointsTo::marker(ObjectKind Kind, uint32_t Id) {
  auto [It, New] = Markers.try_emplace({static_cast<uint32_t>(Kind), Id}, 0);
  if (New) {
    Object Made;
    Made.Kind = Kind;
    Made.Id = Id;
    It->second = makeObject(std::move(Made));
  }
  return It->second;
}

ObjectId PointsTo::globalObject(GlobalId Id) {
  auto [It, New] = GlobalObjects.try_emplace(Id, 0);
  if (New) {
    Object Made;
    Made.Kind = ObjectKind::Global;
    Made.Id = Id;
    Made.Type = P.globals()[Id].Type;
    Made.Constant = P.globals()[Id].Symbol->Constant;
    if (Made.Type.What == Core::Record && !Made.Type.Pointers)
      Made.Types.insert(Made.Type.Record);
    Made.Bytes = Made.Type.What != Core::Record || Made.Type.Pointers;
    It->second = makeObject(std::move(Made));
  }
  return It->second;
}

ObjectId PointsTo::preObject(const Shape &Pointed) {
  auto Key = std::make_tuple(static_cast<unsigned>(Pointed.What), Pointed.Pointers,
                             Pointed.What == Core::Record ? Pointed.Record : None);
  auto [It, New] = PreObjects.try_emplace(Key, 0);
  if (New) {
    Object Made;
    Made.Kind = ObjectKind::Pre;
    Made.Type = Pointed;
    if (Pointed.What == Core::Record && !Pointed.Pointers)
      Made.Types.insert(Pointed.Record);
    It->second = makeObject(std::move(Made));
  }
  return It->second;
}

void PointsTo::enqueue(NodeId N) {
  if (!Nodes[N].Queued) {
    Nodes[N].Queued = true;
    Work.push_back(N);
  }
}

bool PointsTo::takes(const Node &N, LocationId What) const {
  return !N.Number || (N.Character ? What == input() : Numbers.test(What));
}

void PointsTo::add(NodeId To, LocationId What) {
  To = same(To);
  Node &N = Nodes[To];
  if (!takes(N, What))
    return;
  if (N.Set.test_and_set(What)) {
    N.Delta.set(What);
    enqueue(To);
  }
}

void PointsTo::addEdge(NodeId From, NodeId To) {
  From = same(From);
  To = same(To);
  if (From == To || !KnownEdges.insert({From, To}).second)
    return;
  Nodes[From].Edges.push_back(To);
  flow(Nodes[From].Set, To);
}

void PointsTo::flow(const llvm::SparseBitVector<> &What, NodeId To) {
  ++Steps;
  To = same(To);
  Node &Target = Nodes[To];
  if (Target.Character) {
    if (What.test(input()))
      add(To, input());
    return;
  }
  llvm::SparseBitVector<> New = What;
  if (Target.Number)
    New &= Numbers;
  New.intersectWithComplement(Target.Set);
  if (New.empty())
    return;
  Target.Set |= New;
  Target.Delta |= New;
  enqueue(To);
}

bool PointsTo::keeps(Location What) const {
  const Object &In = Objects[What.In];
  if (What.Offset <= 0 || In.Types.size() != 1)
    return true;
  const RecordInfo &Record = P.record(*In.Types.begin());
  for (const RecordField &Field : Record.Fields)
    if (Field.Type.What == Core::Char && Field.Type.Array && !Field.Type.Pointers &&
        What.Offset >= static_cast<int64_t>(Field.Offset) &&
        What.Offset < static_cast<int64_t>(Field.Offset + Field.Type.Size))
      return &Field == &Record.Fields.back();
  return true;
}

const std::vector<Feed> &PointsTo::feeds(NodeId Cell) const {
  static const std::vector<Feed> Nothing;
  auto It = Feeds.find(Cell);
  return It == Feeds.end() ? Nothing : It->second;
}

void PointsTo::addFeed(NodeId Cell, NodeId From, Site Where) {
  std::vector<Feed> &Known = Feeds[Cell];
  if (Known.size() < FeedsMax &&
      llvm::none_of(Known, [&](const Feed &F) { return F.From == From; }))
    Known.push_back({From, Where});
}

std::vector<LocationId> PointsTo::snapshot(NodeId N) const {
  std::vector<LocationId> Now;
  for (LocationId Each : pointees(N))
    Now.push_back(Each);
  return Now;
}

/// Applies \p R to everything that \p At points to, now and later.
void PointsTo::wait(NodeId At, const Waiting &R) {
  At = same(At);
  Nodes[At].Rules.push_back(R);
  for (LocationId What : snapshot(At))
    apply(R, What);
}

void PointsTo::addLoad(NodeId Address, NodeId To, const Shape &Type, uint32_t Flow, Site Where) {
  if (Type.isPointerTo(Core::Record)) { // What is loaded passes like a cast to the loaded type.
    NodeId Raw = makeNodes(1);
    addCast(Raw, To, Type, /*FromBytes=*/false, Where);
    To = Raw;
  }
  Shapes.push_back(Type);
  wait(Address, {Rule::Load, To, 0, Flow, static_cast<uint32_t>(Shapes.size() - 1), Where});
}

void PointsTo::addStore(NodeId Address, NodeId From, const Shape &Type, Site Where) {
  Shapes.push_back(Type);
  wait(Address, {Rule::Store, From, 0, None, static_cast<uint32_t>(Shapes.size() - 1), Where});
}

void PointsTo::addFieldOf(NodeId Base, NodeId To, int64_t Delta, RecordKey Record, Site Where) {
  wait(Base, {Rule::FieldOf, To, Delta, Record, 0, Where});
}

void PointsTo::addElementOf(NodeId Base, NodeId To) {
  wait(Base, {Rule::ElementOf, To, 0, None, 0, {}});
}

void PointsTo::addShift(NodeId Base, NodeId To, int64_t Delta) {
  wait(Base, {Rule::Shift, To, Delta, None, 0, {}});
}

void PointsTo::addCast(NodeId From, NodeId To, const Shape &Type, bool FromBytes, Site Where) {
  Shapes.push_back(Type);
  wait(From, {Rule::Cast, To, FromBytes, None, static_cast<uint32_t>(Shapes.size() - 1), Where});
}

void PointsTo::addBuilt(NodeId From, NodeId To) { wait(From, {Rule::Built, To, 0, None, 0, {}}); }

void PointsTo::addCopyObject(NodeId ToAddress, NodeId FromAddress, uint64_t Size, Site Where) {
  wait(ToAddress, {Rule::CopyTo, FromAddress, static_cast<int64_t>(Size), None, 0, Where});
  wait(FromAddress, {Rule::CopyFrom, ToAddress, static_cast<int64_t>(Size), None, 0, Where});
}

void PointsTo::addCopyBytes(NodeId ToAddress, NodeId FromAddress, Site Where) {
  wait(ToAddress, {Rule::BytesTo, FromAddress, 0, None, 0, Where});
  wait(FromAddress, {Rule::BytesFrom, ToAddress, 0, None, 0, Where});
}

bool PointsTo::run() {
  while (!Work.empty()) {
    if (Complete && Steps >= CollapseAt) {
      collapse();
      CollapseAt = Steps + Steps / 2;
    }
    NodeId At = same(Work.front());
    Work.pop_front();
    Node &N = Nodes[At];
    N.Queued = false;
    llvm::SparseBitVector<> Delta;
    std::swap(Delta, N.Delta);
    for (size_t E = 0; E != N.Edges.size(); ++E)
      flow(Delta, N.Edges[E]);
    for (LocationId What : Delta)
      for (size_t R = 0; R != N.Rules.size(); ++R) {
        if (++Steps > StepsMax)
          return false;
        apply(Waiting(N.Rules[R]), What);
      }
  }
  return true;
}

} // namespace nvmove::solve
