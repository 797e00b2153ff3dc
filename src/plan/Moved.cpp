// See Moved.h.
#include "plan/Moved.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

Moved::Moved(const Program &P, const Everything &All, const Scanned &Found)
    : P(P), All(All), Graph(All.graph()), Found(Found), Loading(All.extent(Found.Load)) {
  findRoots();
  walk();
  findAlsoRoots();
}

/// Made by the load, and data: a record of a persistent type, or an array with what was read. (Texts
/// by themselves are more often the buffer that was read into.)
bool Moved::isLoaded(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  if (!mayMove(Id) || !Loading.count(What.Made.In))
    return false;
  if (!What.Types.empty())
    return true;
  return Found.Untyped.count(What.Made.At) && llvm::any_of(What.Cells, [&](const auto &At) {
           return anyOf(Graph.pointees(At.second), [&](LocationId Each) {
             return Graph.object(Graph.at(Each).In).Kind == ObjectKind::Heap;
           });
         });
}

bool Moved::mayMove(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  return What.Kind == ObjectKind::Heap &&
         (What.Types.empty() ||
          llvm::any_of(What.Types, [&](RecordKey Key) { return isPersistent(Key); }));
}

bool Moved::stays(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  if (What.Kind != ObjectKind::Heap || moves(Id) || (mayMove(Id) && !What.Types.empty()) ||
      Blocks.count({What.Made.In, What.Made.At}))
    return false;
  if (!What.Types.empty())
    return true;
  for (auto [Offset, At] : What.Cells)
    for (LocationId Each : Graph.pointees(At))
      if (ObjectId To = Graph.at(Each).In; Graph.object(To).isMemory() && !moves(To))
        return true;
  return false;
}

/// Backwards from what the load makes to all that may move and leads there, and to the variables.
void Moved::findRoots() {
  std::map<ObjectId, std::vector<Cell>> Holders;
  std::vector<ObjectId> Work;
  std::set<ObjectId> Leads;
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id) {
    const Object &What = Graph.object(Id);
    if (!mayMove(Id) && What.Kind != ObjectKind::Global)
      continue;
    for (auto [Offset, At] : What.Cells)
      for (LocationId Each : Graph.pointees(At))
        Holders[Graph.at(Each).In].push_back({Id, Offset});
    if (isLoaded(Id) && Leads.insert(Id).second)
      Work.push_back(Id);
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
      if (mayMove(To)) {
        if (Moving.insert(To).second) {
          Blocks.insert({What.Made.In, What.Made.At});
          Work.push_back(To);
        }
      } else if (What.Kind == ObjectKind::Global) {
        if (!What.Constant)
          Addressed.try_emplace(To, From);
      } else if (!Root && (What.Kind == ObjectKind::Heap || What.Kind == ObjectKind::Mapped)) {
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

std::string Moved::fieldName(Cell At) const {
  const Object &What = Graph.object(At.In);
  if (What.Types.empty() || At.Offset < 0)
    return "";
  RecordKey Key = P.named(*What.Types.begin());
  std::string Name = P.record(Key).Name;
  uint64_t Offset = static_cast<uint64_t>(At.Offset);
  if (Name.empty())
    return "";
  for (unsigned Depth = 0; Depth != 8; ++Depth) {
    const RecordField *Inner = nullptr;
    for (const RecordField &Field : P.record(Key).Fields)
      if (Offset >= Field.Offset && Offset < Field.Offset + std::max<uint64_t>(Field.Type.Size, 1))
        Inner = &Field;
    if (!Inner)
      return "";
    bool Record = Inner->Type.What == Core::Record && !Inner->Type.Pointers;
    // A record with a name of its own is written with it: its marks hold wherever it lies.
    if (Record && !P.record(Inner->Type.Record).Name.empty())
      Name = P.record(Inner->Type.Record).Name;
    else if (!Inner->Name.empty())
      Name += "." + Inner->Name;
    if (!Record)
      return Name;
    Offset -= Inner->Offset;
    Key = Inner->Type.Record;
    if (uint64_t Size = P.record(Key).Size)
      Offset %= Size;
  }
  return "";
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
