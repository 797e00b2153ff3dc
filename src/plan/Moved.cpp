// See Moved.h.
#include "plan/Moved.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

constexpr unsigned DepthMax = 8; ///< Records in records.

Moved::Moved(const Program &P, const Everything &All, const Scanned &Found)
    : P(P), All(All), Graph(All.graph()), Found(Found), Loading(All.extent(Found.Load)) {
  Running = All.reached(
      [&](InstanceId In) { return llvm::is_contained(Found.Load, All.functionOf(In)); });
  findShared();
  findHung();
  findUsed();
  findHolders();
  findRoots();
  walk();
  findStaying();
  findAlsoRoots();
}

/// Made by the load and not only for itself: a record that the scan found or the running program looks
/// into, or an array with what was read.
bool Moved::isLoaded(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  if (!mayMove(Id) || !Loading.count(What.Made.In))
    return false;
  return !What.Types.empty() || (Found.Untyped.count(What.Made.At) && !isBytes(Id));
}

/// Memory without a type that the load makes. It is data if the running program looks at a variable that
/// leads to it; else it is a buffer of the load.
bool Moved::isText(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  return What.Kind == ObjectKind::Heap && What.Types.empty() && Loading.count(What.Made.In) &&
         !isApart(Id);
}

/// Records of the program that the load makes and the running program looks into: where the pool has the
/// data nobody makes them.
void Moved::findShared() {
  std::set<ObjectId> Seen;
  for (InstanceId In : Running)
    for (const facts::Instruction &I : All.visits().functionOf(In).Body->Body)
      if (NodeId N = All.visits().node(In, I.A);
          N != None && (I.Code == facts::Op::Load || I.Code == facts::Op::Store))
        for (LocationId Each : Graph.pointees(N))
          Seen.insert(Graph.at(Each).In);
  for (ObjectId Id : Seen)
    if (const Object &What = Graph.object(Id);
        What.Kind == ObjectKind::Heap && Loading.count(What.Made.In) && !isApart(Id))
      for (RecordKey Key : What.Types)
        if (const RecordInfo &Record = P.record(P.named(Key)); !Record.System && Record.Complete)
          Shared.insert(P.named(Key));
}

bool Moved::mayMove(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  return What.Kind == ObjectKind::Heap && !isApart(Id) &&
         (What.Types.empty() || Hung.count(Id) ||
          llvm::any_of(What.Types, [&](RecordKey Key) { return isPersistent(Key); }));
}

/// The load stores what it makes into objects that are older, or into arrays that these have.
void Moved::findHung() {
  std::set<ObjectId> Filled;
  auto IsOlder = [&](ObjectId Id) {
    const Object &What = Graph.object(Id);
    return What.Kind == ObjectKind::Heap && !Loading.count(What.Made.In);
  };
  for (InstanceId In : Loading)
    for (const facts::Instruction &I : All.visits().functionOf(In).Body->Body) {
      NodeId To = All.visits().node(In, I.A), Value = All.visits().node(In, I.B);
      if (I.Code != facts::Op::Store || To == None || Value == None ||
          !anyOf(Graph.pointees(Value),
                 [&](LocationId Each) { return isLoaded(Graph.at(Each).In); }))
        continue;
      for (LocationId Each : Graph.pointees(To))
        if (ObjectId Into = Graph.at(Each).In; IsOlder(Into))
          Filled.insert(Into);
        else if (const Object &Local = Graph.object(Into);
                 Local.Kind == ObjectKind::Stack && !Loading.count(Local.Made.In))
          Locals.insert(Into); // "load(&tree)"
    }
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    for (auto [Offset, At] : Graph.object(Id).Cells)
      for (LocationId Each : Graph.pointees(At))
        if (ObjectId To = Graph.at(Each).In;
            IsOlder(Id) && Filled.count(To) && Graph.object(To).Types.empty())
          Hung.insert(Id);
  for (ObjectId Id : Filled)
    if (!Graph.object(Id).Types.empty())
      Hung.insert(Id);
}

/// Variables that the running program looks at.
void Moved::findUsed() {
  for (InstanceId In : Running)
    for (const facts::Instruction &I : All.visits().functionOf(In).Body->Body)
      if (NodeId N = All.visits().node(In, I.A); I.Code == facts::Op::Load && N != None)
        for (LocationId Each : Graph.pointees(N))
          if (Location At = Graph.at(Each); Graph.object(At.In).Kind == ObjectKind::Global)
            Used.insert({At.In, At.Offset});
}

void Moved::findHolders() {
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (mayMove(Id) || Graph.object(Id).Kind == ObjectKind::Global)
      for (auto [Offset, At] : Graph.object(Id).Cells)
        for (LocationId Each : Graph.pointees(At))
          if (fits({Id, Offset}, Graph.at(Each).In))
            Holders[Graph.at(Each).In].push_back({Id, Offset});
}

/// Of another type; or, of a persistent type or without one, never linked and leading to what stays.
void Moved::findStaying() {
  std::vector<ObjectId> Work;
  std::map<ObjectId, std::vector<ObjectId>> LedFrom;
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id) {
    const Object &What = Graph.object(Id);
    if (What.Kind != ObjectKind::Heap || moves(Id) || Blocks.count({What.Made.In, What.Made.At}))
      continue;
    if (!mayMove(Id) && Staying.insert(Id).second)
      Work.push_back(Id);
    for (auto [Offset, At] : What.Cells)
      for (LocationId Each : Graph.pointees(At))
        if (fits({Id, Offset}, Graph.at(Each).In))
          LedFrom[Graph.at(Each).In].push_back(Id);
  }
  while (!Work.empty()) {
    ObjectId Id = Work.back();
    Work.pop_back();
    for (ObjectId Each : LedFrom[Id])
      if (Staying.insert(Each).second)
        Work.push_back(Each);
  }
}

bool Moved::isBytes(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  return What.Types.empty() && llvm::none_of(What.Cells, [&](const auto &At) {
           return anyOf(Graph.pointees(At.second), [&](LocationId Each) {
             return Graph.object(Graph.at(Each).In).isMemory();
           });
         });
}

/// Backwards from what the load makes to all that may move and leads there, and to the variables.
void Moved::findRoots() {
  std::vector<ObjectId> Work;
  std::set<ObjectId> Leads;
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id) {
    if (isLoaded(Id) && Leads.insert(Id).second)
      Work.push_back(Id);
    if (isText(Id))
      for (Cell Each : Holders[Id])
        if (Graph.object(Each.In).Kind == ObjectKind::Global && Used.count(Each))
          Roots.insert(Each);
  }
  while (!Work.empty()) {
    ObjectId Id = Work.back();
    Work.pop_back();
    for (Cell Each : Holders[Id])
      if (Graph.object(Each.In).Kind == ObjectKind::Global)
        Roots.insert(Each);
      else if (Leads.insert(Each.In).second)
        Work.push_back(Each.In);
  }
  // A table that is no heap object: the variable itself is of a persistent type.
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (const Object &What = Graph.object(Id);
        What.Kind == ObjectKind::Global && !What.Constant && What.Type.What == Core::Record &&
        !What.Type.Pointers && isPersistent(What.Type.Record))
      Roots.insert({Id, 0});
}

void Moved::walk() {
  std::vector<ObjectId> Work;
  auto Follow = [&](Cell From, bool Root) {
    const auto &Cells = Graph.object(From.In).Cells;
    auto At = Cells.find(From.Offset);
    if (At == Cells.end())
      return;
    for (LocationId Each : Graph.pointees(At->second)) {
      ObjectId To = Graph.at(Each).In;
      const Object &What = Graph.object(To);
      if (!fits(From, To))
        continue;
      if (mayMove(To)) {
        if (!Root)
          Holding.insert(fieldName(From));
        if (Moving.insert(To).second) {
          Blocks.insert({What.Made.In, What.Made.At});
          Work.push_back(To);
        }
      } else if (What.Kind == ObjectKind::Global) {
        if (!What.Constant)
          Addressed.try_emplace(To, From);
      } else if (!Root && What.isMemory() && (What.Kind == ObjectKind::Pre || What.Made.At)) {
        Leaves.push_back({From, To});
      }
    }
  };
  for (Cell Each : Roots)
    Follow(Each, /*Root=*/true);
  while (!Work.empty()) {
    ObjectId Id = Work.back();
    Work.pop_back();
    for (auto [Offset, At] : Graph.object(Id).Cells)
      Follow({Id, Offset}, /*Root=*/false);
  }
}

void Moved::findAlsoRoots() {
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (const Object &What = Graph.object(Id); What.Kind == ObjectKind::Global && !What.Constant)
      for (auto [Offset, At] : What.Cells)
        for (LocationId Each : Graph.pointees(At))
          if (ObjectId To = Graph.at(Each).In;
              !Roots.count({Id, Offset}) && moves(To) && !Graph.object(To).Types.empty())
            AlsoRoots.insert({Id, Offset});
}

namespace {

/// The member of \p Key at byte \p Offset, in records by value as deep as it lies. \p Take is called
/// with each on the way, the outermost first.
template <typename Visit>
bool eachMemberAt(const Program &P, RecordKey Key, uint64_t Offset, Visit Take) {
  for (unsigned Depth = 0; Depth != DepthMax; ++Depth) {
    const RecordField *Inner = nullptr;
    for (const RecordField &Field : P.record(Key).Fields) // The last member of a union.
      if (Offset >= Field.Offset && Offset < Field.Offset + std::max<uint64_t>(Field.Type.Size, 1))
        Inner = &Field;
    if (!Inner)
      return false;
    Take(*Inner);
    if (Inner->Type.What != Core::Record || Inner->Type.Pointers)
      return true;
    Offset -= Inner->Offset;
    Key = Inner->Type.Record;
    if (uint64_t Size = P.record(Key).Size)
      Offset %= Size;
  }
  return false;
}

/// False where \p Key has only numbers at byte \p Offset, in each member of its unions.
bool mayHoldPointer(const Program &P, RecordKey Key, uint64_t Offset, unsigned Depth = 0) {
  bool Some = false;
  if (Depth == DepthMax)
    return true;
  for (const RecordField &Field : P.record(Key).Fields) {
    if (Offset < Field.Offset || Offset >= Field.Offset + std::max<uint64_t>(Field.Type.Size, 1))
      continue;
    Some = true;
    uint64_t Inner = Offset - Field.Offset;
    const Shape &Type = Field.Type;
    if (Type.What == Core::Record && !Type.Pointers) {
      uint64_t Size = P.record(Type.Record).Size;
      if (mayHoldPointer(P, Type.Record, Size ? Inner % Size : Inner, Depth + 1))
        return true;
    } else if (Type.Pointers || Type.Address || Type.What != Core::Other) {
      return true;
    }
  }
  return !Some;
}

} // namespace

std::string Moved::fieldName(Cell At) const {
  const Object &What = Graph.object(At.In);
  if (What.Types.empty() || At.Offset < 0)
    return "";
  RecordKey Key = P.named(*What.Types.begin());
  std::string Name = P.record(Key).Name;
  bool Found =
      eachMemberAt(P, Key, static_cast<uint64_t>(At.Offset), [&](const RecordField &Field) {
        // A record with a name of its own is written with it: its marks hold wherever it lies.
        bool Record = Field.Type.What == Core::Record && !Field.Type.Pointers;
        if (Record && !P.record(Field.Type.Record).Name.empty())
          Name = P.record(Field.Type.Record).Name;
        else if (!Field.Name.empty())
          Name += "." + Field.Name;
      });
  return Found && !Name.empty() && Name.front() != '.' ? Name : "";
}

/// What a cell is declared to hold; of no size where nothing is known, or a union says several things.
Shape Moved::declared(Cell At) const {
  const Object &What = Graph.object(At.In);
  if (What.Kind == ObjectKind::Global && (What.Type.What != Core::Record || What.Type.Pointers))
    return What.Type;
  if (What.Types.size() != 1 || At.Offset < 0)
    return Shape();
  Shape Found;
  bool Union = P.record(*What.Types.begin()).Union;
  bool Whole = eachMemberAt(P, *What.Types.begin(), static_cast<uint64_t>(At.Offset),
                            [&](const RecordField &Field) {
                              Found = Field.Type;
                              Union |= Field.Type.What == Core::Record && !Field.Type.Pointers &&
                                       P.record(Field.Type.Record).Union;
                            });
  return Whole && !Union ? Found : Shape();
}

/// False where a cell is declared to point to one record and the object is another one: the analysis
/// has mixed things up.
bool Moved::fits(Cell At, ObjectId To) const {
  Shape Type = declared(At);
  const Object &What = Graph.object(To);
  const Object &From = Graph.object(At.In);
  if (From.Types.size() == 1 && At.Offset >= 0 && What.isMemory() &&
      !mayHoldPointer(P, *From.Types.begin(), static_cast<uint64_t>(At.Offset)))
    return false;
  if (Type.Pointers != 1 || What.Types.empty())
    return true;
  if (Type.What == Core::Char)
    return moves(To);
  if (Type.What != Core::Record)
    return true;
  return llvm::any_of(What.Types, [&](RecordKey Key) {
    std::vector<RecordKey> First, Other;
    P.recordsAt(Key, 0, First);
    P.recordsAt(Type.Record, 0, Other);
    RecordKey Wanted = P.named(Type.Record);
    auto IsWanted = [&](RecordKey Each) { return P.named(Each) == Wanted; };
    // An intrusive link leads into the middle of what it links.
    for (const RecordField &Field : P.record(Key).Fields)
      if (Field.Type.What == Core::Record && !Field.Type.Pointers && IsWanted(Field.Type.Record))
        return true;
    return llvm::any_of(First, IsWanted) || llvm::is_contained(Other, Key) ||
           P.extends(Key, Type.Record) || P.extends(Type.Record, Key) ||
           !P.record(Type.Record).Complete;
  });
}

SourcePlace Moved::placeOf(const Site &Where) const {
  if (!Where.At)
    return {};
  const facts::Location &At = Where.At->Where;
  return {All.visits().functionOf(Where.In).unit().text(At.File), At.Line, At.Column};
}

SourcePlace Moved::stored(Cell At, ObjectId To) const {
  auto Found = Graph.object(At.In).Cells.find(At.Offset);
  if (Found != Graph.object(At.In).Cells.end())
    for (const Feed &Each : Graph.feeds(Found->second))
      if (Graph.pointsInto(Each.From, To))
        return placeOf(Each.Where);
  return {};
}

} // namespace nvmove::plan
