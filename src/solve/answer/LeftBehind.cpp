// The walk and the choice of types. The chains are in Evidence.cpp. See LeftBehind.h.
#include "solve/answer/LeftBehind.h"

#include "solve/Heuristics.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>

namespace nvmove::solve {

LeftBehind::LeftBehind(const Program &P, const Visits &V, const Contents &Kept)
    : P(P), V(V), Graph(V.graph()), Kept(Kept) {
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (isMachinery(Id))
      Machinery.insert(Graph.object(Id).Types.begin(), Graph.object(Id).Types.end());
  walk();
  findData();
  for (const auto &[Id, How] : Reached)
    collect(Id);
}

bool LeftBehind::isMachinery(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  return What.Kind != ObjectKind::Global && Kept.of(Id).Handle;
}

bool LeftBehind::keepsOnlyMachinery(ObjectId Id) const {
  bool Some = false;
  for (const auto &Cell : Graph.object(Id).Cells)
    for (LocationId Each : Graph.pointees(Cell.second)) {
      ObjectId To = Graph.at(Each).In;
      const Object &What = Graph.object(To);
      bool IsOlder = What.isOlder() && What.Type.What == Core::Record &&
                     Machinery.count(What.Type.Record); // one more of them, for all that is known
      if (To != Id && What.isMemory() && !isMachinery(To) && !IsOlder)
        return false;
      Some |= To != Id && isMachinery(To);
    }
  return Some;
}

void LeftBehind::walk() {
  std::deque<ObjectId> Work;
  auto Reach = [&](ObjectId Id, LeftBehind::Reach How) {
    const Object &What = Graph.object(Id);
    if (!What.isMemory() || What.FreedAtEnd || isMachinery(Id) || What.Emptied ||
        !Reached.try_emplace(Id, How).second)
      return;
    Work.push_back(Id);
  };
  auto Follow = [&](bool ThroughOlder) {
    while (!Work.empty()) {
      ObjectId From = Work.front();
      Work.pop_front();
      unsigned Steps = Reached[From].Steps + 1;
      if (ObjectId Behind = Graph.object(From).Behind; Behind != None)
        Reach(Behind, {From, 0, Steps});
      for (auto [Offset, Cell] : Graph.object(From).Cells)
        for (LocationId Each : Graph.pointees(Cell))
          if (Graph.keeps(Graph.at(Each)) &&
              (ThroughOlder || !Graph.object(Graph.at(Each).In).isOlder()))
            Reach(Graph.at(Each).In, {From, Offset, Steps});
    }
  };
  // The best root comes first, for the sake of the chains: a global or a result has a name; an
  // older object of a type that the load does not make says more than one that stands for its own.
  std::set<RecordKey> Made;
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (Graph.object(Id).Kind == ObjectKind::Heap)
      Made.insert(Graph.object(Id).Types.begin(), Graph.object(Id).Types.end());
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (Graph.object(Id).Kind == ObjectKind::Global)
      Reach(Id, {});
  for (InstanceId Load : V.loads())
    for (LocationId Each : Graph.pointees(V.instance(Load).Result))
      Reach(Graph.at(Each).In, {});
  Follow(/*ThroughOlder=*/false);
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (const Object &What = Graph.object(Id);
        What.isOlder() && (What.Types.empty() || !Made.count(*What.Types.begin())))
      Reach(Id, {});
  Follow(/*ThroughOlder=*/false);
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (Graph.object(Id).isOlder())
      Reach(Id, {});
  Follow(/*ThroughOlder=*/true);
}

/// Backwards from the objects that hold input to those that point to them.
void LeftBehind::findData() {
  std::map<ObjectId, std::vector<ObjectId>> Holders;
  std::vector<ObjectId> Work;
  for (const auto &[Id, How] : Reached) {
    if (Kept.of(Id).Input && Data.insert(Id).second)
      Work.push_back(Id);
    for (auto [Offset, Cell] : Graph.object(Id).Cells)
      for (LocationId Each : Graph.pointees(Cell))
        Holders[Graph.at(Each).In].push_back(Id);
  }
  while (!Work.empty()) {
    ObjectId Id = Work.back();
    Work.pop_back();
    for (ObjectId Holder : Holders[Id])
      if (Data.insert(Holder).second)
        Work.push_back(Holder);
  }
}

void LeftBehind::offer(RecordKey Key, Found Candidate) {
  Key = P.named(Key);
  const RecordInfo &Info = P.record(Key);
  if (Info.System || !Info.Complete || !P.standsAlone(Key) ||
      (Info.Name.empty() && !Info.Size)) // "sizeof(struct { int : 0; })" is arithmetic.
    return;
  auto [It, New] = Types.try_emplace(Key, Candidate);
  if (New)
    return;
  auto Rank = [&](const Found &F) {
    return std::make_pair(static_cast<int>(F.Sureness), Reached.at(F.Object).Steps);
  };
  if (Rank(Candidate) < Rank(It->second))
    It->second = std::move(Candidate);
}

bool LeftBehind::isExtension(RecordKey Longer, RecordKey Base) const {
  if (Longer == Base)
    return false;
  std::vector<RecordKey> First;
  P.recordsAt(Longer, 0, First);
  return llvm::is_contained(First, Base) || P.extends(Longer, Base);
}

/// True when the object holds input, or a text that was read.
bool LeftBehind::holdsInput(ObjectId Id) const {
  for (auto [Offset, Cell] : Graph.object(Id).Cells)
    for (LocationId Each : Graph.pointees(Cell)) {
      ObjectId To = Graph.at(Each).In;
      if (Each == Graph.input() || (Graph.object(To).Kind == ObjectKind::Heap &&
                                    Graph.object(To).Types.empty() && Kept.of(To).Input))
        return true;
    }
  return false;
}

/// How sure it is that an object which was made and is still there is the program's state. What the
/// load returns, or hangs into what its caller gave it, is its product; a global variable may as
/// well keep the reader's own. Measured over the corpus, see docs/results/accuracy.md.
std::pair<Confidence, std::string> LeftBehind::sureness(ObjectId Id) const {
  if (!Data.count(Id))
    return {Confidence::Low, "allocated as this type and kept, but no input reaches it"};
  const Instance &Maker = V.instance(Graph.object(Id).Made.In);
  ObjectId Root = Id;
  for (unsigned Guard = 0; Guard != 64 && Reached.at(Root).From != None; ++Guard)
    Root = Reached.at(Root).From;
  bool Product =
      Graph.object(Root).Kind != ObjectKind::Global && Maker.Entered <= ProductEnteredMax;
  bool AtInput = Maker.Entered <= NearEnteredMax && !Maker.Contactless && holdsInput(Id) &&
                 !Graph.object(Id).Released;
  if (Product || AtInput)
    return {Confidence::High, "allocated as this type and left behind"};
  return {Confidence::Medium,
          Graph.object(Id).Released
              ? "allocated as this type and left behind, but also freed on some way"
              : "allocated as this type and left behind, but away from where the input is read"};
}

void LeftBehind::collect(ObjectId Id) {
  const Object &What = Graph.object(Id);
  if (What.isOlder())
    return collectUpdated(Id);
  if (What.Kind != ObjectKind::Heap && What.Kind != ObjectKind::Mapped)
    return;
  if ((!Data.count(Id) && V.instance(What.Made.In).Contactless) || keepsOnlyMachinery(Id))
    return;
  std::map<RecordKey, Site> Uses = uses(What);
  size_t Most = What.Kind == ObjectKind::Mapped ? MappedUsesMax : UsesMax;
  if (Uses.size() <= Most && (What.Types.empty() || What.Guessed))
    for (const auto &Use : Uses)
      offer(Use.first, {Id, Confidence::Medium,
                        What.Types.empty() ? "untyped memory that is used as this type"
                                           : "allocated as its base and used as this type",
                        Use.second, "used as '" + P.displayName(Use.first) + "'"});
  auto [Sureness, Why] = sureness(Id);
  for (RecordKey Key : What.Types)
    offer(Key, {Id, Sureness, Why, What.TypeSites.at(Key), "as '" + P.displayName(Key) + "'"});
}

/// Records that the program looks at an object as. Made as its base and used as what extends it:
/// both, since one allocator may make either. A view that another view begins with is its first
/// member.
std::map<RecordKey, Site> LeftBehind::uses(const Object &What) const {
  std::map<RecordKey, Site> Uses;
  for (const auto &View : What.Views) {
    bool Wanted = What.Types.empty();
    for (RecordKey Base : What.Types)
      Wanted |= isExtension(View.first, Base);
    bool Inner = false;
    for (const auto &Other : What.Views)
      Inner |= P.record(Other.first).Complete && isExtension(Other.first, View.first) &&
               P.standsAlone(View.first);
    if (Wanted && !Inner && P.standsAlone(View.first))
      Uses.insert(View);
  }
  return Uses;
}

/// True when a function near the input stores input in \p Cell. What functions further away store
/// there was read from what is built already.
bool LeftBehind::fedNearInput(NodeId Cell) const {
  if (Graph.feeds(Cell).empty())
    return true; // Filled by a library.
  for (const Feed &Each : Graph.feeds(Cell))
    if (Graph.holds(Each.From, Graph.input()) && V.instance(Each.Where.In).Removed <= FedRemovedMax)
      return true;
  return false;
}

/// True for a field that is an array of numbers or texts which the load fills in a loop: a table.
bool LeftBehind::isFilledTable(const Object &What, const RecordField &Field) const {
  bool Texts = Field.Type.Pointers == 1 && Field.Type.What == Core::Char;
  bool Numbers = Field.Type.Pointers == 0 && Field.Type.What == Core::Other;
  auto Cell = What.Cells.find(static_cast<int64_t>(Field.Offset));
  if (!Field.Type.Array || !(Texts || Numbers) || Cell == What.Cells.end())
    return false;
  auto Carries = [&](LocationId Each) {
    const Object &To = Graph.object(Graph.at(Each).In);
    return Texts
               ? To.Kind == ObjectKind::Heap && To.Types.empty() && Kept.of(Graph.at(Each).In).Input
               : Each == Graph.input();
  };
  return llvm::any_of(Graph.feeds(Cell->second), [&](const Feed &Each) {
    const facts::Function &Body = *V.functionOf(Each.Where.In).Body;
    facts::Op Way = Each.Where.At->Code; // Copied from where it was built: by "=" or memcpy.
    bool Repeated = Way == facts::Op::CopyObject || Way == facts::Op::Call;
    for (uint32_t At = Each.Where.At->Region; At != 0; At = Body.Regions[At].Parent)
      Repeated |= Body.Regions[At].Kind == facts::RegionKind::Loop;
    bool Some = false;
    for (LocationId Stored : Graph.pointees(Each.From))
      Some |= Carries(Stored);
    return Some && Repeated && V.instance(Each.Where.In).Removed <= FedRemovedMax;
  });
}

/// Records that were there before the load. One that receives input in several of its fields, or in
/// one array element after the other, or a table in it, is filled by the load; a single one that
/// receives a little is progress, statistics or configuration. One that holds the handle is a
/// reader.
void LeftBehind::collectUpdated(ObjectId Id) {
  const Object &What = Graph.object(Id);
  if (What.Type.What != Core::Record || What.Type.Pointers || Kept.of(Id).Handle)
    return;
  const RecordInfo &Info = P.record(What.Type.Record);
  size_t Fed = 0;
  bool Table = false;
  for (const RecordField &Field : Info.Fields) {
    Table = Table || isFilledTable(What, Field);
    auto Cell = What.Cells.find(static_cast<int64_t>(Field.Offset));
    Fed += !Field.Type.Pointers && Cell != What.Cells.end() &&
           Graph.holds(Cell->second, Graph.input()) && fedNearInput(Cell->second);
  }
  bool Filled = What.BulkRead || Fed >= FedMin || Table;
  if (!Filled && !(What.Indexed && Fed))
    return;
  offer(What.Type.Record, {Id,
                           Confidence::Low,
                           What.BulkRead ? std::string("read as a whole by the load")
                           : Table && Fed < FedMin
                               ? std::string("a table in it receives input from the load")
                               : std::to_string(Fed) + " of its fields receive input from the load",
                           {},
                           "filled in place"});
}

/// Adds to what the save reads what objects of these types keep: an index beside the data is
/// written by nobody and still belongs to it.
std::set<RecordKey> LeftBehind::kept(const std::set<RecordKey> &Saved) const {
  std::set<RecordKey> All = Saved;
  std::vector<ObjectId> Work;
  std::set<ObjectId> Seen;
  auto Take = [&](ObjectId Id) {
    if (Data.count(Id) && Graph.object(Id).Kind == ObjectKind::Heap && Seen.insert(Id).second)
      Work.push_back(Id);
  };
  for (const auto &Each : Reached)
    for (RecordKey Key : Graph.object(Each.first).Types)
      if (Saved.count(P.named(Key)))
        Take(Each.first);
  while (!Work.empty()) {
    ObjectId Id = Work.back();
    Work.pop_back();
    for (RecordKey Key : Graph.object(Id).Types)
      All.insert(P.named(Key));
    for (const auto &Cell : Graph.object(Id).Cells)
      for (LocationId Each : Graph.pointees(Cell.second))
        Take(Graph.at(Each).In);
  }
  return All;
}

std::set<RecordKey> LeftBehind::records(const std::set<RecordKey> *Saved) const {
  std::set<RecordKey> Found, Wanted;
  if (Saved)
    Wanted = kept(*Saved);
  for (const auto &[Key, How] : Types)
    if (!Saved || Wanted.count(Key))
      Found.insert(Key);
  return Found;
}

std::set<const facts::Instruction *> LeftBehind::untypedData() const {
  std::set<const facts::Instruction *> Found;
  for (ObjectId Id : Data)
    if (const Object &What = Graph.object(Id); What.Kind == ObjectKind::Heap && What.Types.empty())
      Found.insert(What.Made.At);
  return Found;
}

std::vector<PersistentType> LeftBehind::types(const std::set<RecordKey> *Saved) const {
  std::vector<PersistentType> Result;
  for (RecordKey Key : records(Saved)) {
    const Found &How = Types.at(Key);
    PersistentType Made = P.describe(Key);
    Made.Sureness = How.Sureness;
    Made.Why = How.Why;
    Made.Evidence = chain(How);
    Result.push_back(std::move(Made));
  }
  auto Order = [](const PersistentType &T) {
    return std::tie(T.Name, T.Definition.File, T.Definition.Line);
  };
  llvm::sort(Result,
             [&](const PersistentType &A, const PersistentType &B) { return Order(A) < Order(B); });
  // Units that configure a record differently each have a layout of it.
  Result.erase(std::unique(Result.begin(), Result.end(),
                           [&](const PersistentType &A, const PersistentType &B) {
                             return Order(A) == Order(B);
                           }),
               Result.end());
  return Result;
}

} // namespace nvmove::solve
