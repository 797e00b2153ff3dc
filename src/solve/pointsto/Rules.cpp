// The rules that wait at addresses: loads, stores, fields, casts, copies. See PointsTo.h.
#include "solve/Heuristics.h"
#include "solve/pointsto/PointsTo.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

namespace {} // namespace

void PointsTo::apply(const Waiting &R, LocationId Id) {
  Location What = Locations[Id];
  switch (R.What) {
  case Rule::Load:
    return applyLoad(R, What);
  case Rule::Store:
    return applyStore(R, What);
  case Rule::FieldOf:
    return applyFieldOf(R, What);
  case Rule::ElementOf:
    Objects[What.In].Indexed = true;
    return add(R.Other, Id);
  case Rule::Shift:
    return applyShift(R, What);
  case Rule::Cast:
    return applyCast(R, What);
  case Rule::Built:
    return Objects[What.In].Kind == ObjectKind::Heap ? add(R.Other, Id) : void();
  case Rule::Specialise:
    return specialise(R, What);
  case Rule::BytesTo:
  case Rule::BytesFrom:
    for (LocationId Other : snapshot(R.Other))
      if (R.What == Rule::BytesTo)
        copyBytes(What, Locations[Other], R.Where);
      else
        copyBytes(Locations[Other], What, R.Where);
    return;
  case Rule::CopyTo:
  case Rule::CopyFrom: {
    for (LocationId Other : snapshot(R.Other))
      if (R.What == Rule::CopyTo)
        copyObjects(What, Locations[Other], R.Delta, R.Where);
      else
        copyObjects(Locations[Other], What, R.Delta, R.Where);
    return;
  }
  }
}

/// True when a field of one of the object's types, or of a record in it, begins at \p Offset.
bool PointsTo::beginsField(const Object &What, int64_t Offset) const {
  for (RecordKey Key : What.Types)
    for (const RecordField &Field : P.record(Key).Fields) {
      if (static_cast<int64_t>(Field.Offset) == Offset)
        return true;
      if (Field.Type.What == Core::Record && !Field.Type.Pointers &&
          Offset > static_cast<int64_t>(Field.Offset) &&
          Offset < static_cast<int64_t>(Field.Offset + Field.Type.Size))
        return true;
    }
  return false;
}

/// Keeps offsets inside an object: an array is its first element, a buffer has no fields. A pointer
/// that is \p Stepped through bytes stays precise only where fields begin.
int64_t PointsTo::normalise(ObjectId In, int64_t Offset, bool Stepped) {
  Object &What = Objects[In];
  if (Offset == AnyOffset || Offset < 0 || Offset > OffsetMax)
    return AnyOffset;
  if (!What.Types.empty()) {
    uint64_t Size = 0;
    for (RecordKey Key : What.Types)
      Size = std::max(Size, P.record(Key).Size);
    if (Size && static_cast<uint64_t>(Offset) >= Size)
      return AnyOffset;
    return Offset == 0 || beginsField(What, Offset) ? Offset : AnyOffset;
  }
  if (LocationIds.count({In, Offset}))
    return Offset;
  return ++What.Offsets > (Stepped ? StepsThroughMax : OffsetsMax) ? AnyOffset : Offset;
}

NodeId PointsTo::cell(ObjectId In, int64_t Offset) {
  Object &What = Objects[In];
  auto It = What.Cells.find(Offset);
  if (It != What.Cells.end())
    return It->second;
  if (Offset != AnyOffset && What.Cells.size() >= CellsMax)
    return cell(In, AnyOffset);
  NodeId Made = makeNodes(1);
  What.Cells[Offset] = Made;
  // A global number, or array of numbers or characters, keeps no pointers, but for uintptr_t.
  if (What.Kind == ObjectKind::Global && !What.Type.Pointers && !What.Type.Address &&
      (What.Type.What == Core::Other || What.Type.What == Core::Char))
    restrictToNumbers(Made);
  if (What.Whole != None)
    addEdge(Made, What.Whole);
  if (auto Known = Copies.find(In); Known != Copies.end())
    for (const ObjectCopy &Copy : std::vector<ObjectCopy>(Known->second))
      copyCell(Copy, In, Offset);
  return Made;
}

NodeId PointsTo::whole(ObjectId In) {
  Object &What = Objects[In];
  if (What.Whole == None) {
    What.Whole = makeNodes(1);
    addEdge(cell(In, AnyOffset), What.Whole);
    for (auto [Offset, Cell] : What.Cells)
      addEdge(Cell, What.Whole);
  }
  return What.Whole;
}

void PointsTo::applyLoad(const Waiting &R, Location What) {
  Object &From = Objects[What.In];
  if (From.Kind == ObjectKind::Input || From.Kind == ObjectKind::Handle)
    return add(R.Other, input());
  if (!From.isMemory())
    return;
  if (What.Offset == AnyOffset) {
    addEdge(whole(What.In), R.Other);
  } else {
    addEdge(cell(What.In, What.Offset), R.Other);
    addEdge(cell(What.In, AnyOffset), R.Other);
  }
  const Shape &Type = Shapes[R.ShapeIndex];
  if (!Type.Pointers)
    return;
  if (From.Kind == ObjectKind::Mapped) // Its pointers were made to point into it.
    return add(R.Other, What.In, AnyOffset);
  if (!From.isOlder() || From.Emptied || (Complete && From.Kind == ObjectKind::Global))
    return;
  if (Type.isPointerTo(Core::Function)) {
    bool Known = From.Kind == ObjectKind::Global && !pointees(cell(What.In, What.Offset)).empty();
    if (!Known && R.Extra != None)
      for (FunctionId Each : *Flows[R.Extra])
        add(R.Other, functionObject(Each), 0);
    return;
  }
  Shape Pointed = Type;
  --Pointed.Pointers;
  Pointed.Array = false;
  add(R.Other, preObject(Pointed), 0);
}

bool PointsTo::mayStore(ObjectId In) const {
  return Objects[In].isMemory() && !(Captured && Objects[In].Constant);
}

void PointsTo::applyStore(const Waiting &R, Location What) {
  if (!mayStore(What.In) || R.Other == None)
    return;
  NodeId To = cell(What.In, What.Offset);
  addFeed(To, R.Other, R.Where);
  RecordKey Kept = keptAs(What, Shapes[R.ShapeIndex]);
  if (Kept == None)
    return addEdge(R.Other, To);
  wait(R.Other, {Rule::Specialise, To, 0, Kept, 0, R.Where});
}

void PointsTo::applyShift(const Waiting &R, Location What) {
  if (!Objects[What.In].isMemory())
    return add(R.Other, location(What.In, What.Offset));
  if (ObjectId Behind = behindHeader(What, R.Delta); Behind != None)
    return add(R.Other, Behind, 0);
  int64_t Offset = R.Delta == AnyOffset || What.Offset == AnyOffset
                       ? AnyOffset
                       : normalise(What.In, What.Offset + R.Delta, /*Stepped=*/true);
  add(R.Other, What.In, Offset);
}

void PointsTo::applyFieldOf(const Waiting &R, Location What) {
  Object &Base = Objects[What.In];
  if (Base.Kind == ObjectKind::Input || Base.Kind == ObjectKind::Handle)
    return add(R.Other, location(What.In, 0));
  if (!Base.isMemory())
    return;
  if (!castPasses(Base, What.Offset, R.Extra))
    return;
  // Characters become a record by a cast alone: what else leads here is another member of a union.
  if (Base.Kind == ObjectKind::Heap && Base.Bytes && Base.Types.empty() && Base.Views.empty())
    return;
  if (Base.Kind == ObjectKind::Pre && Base.Types.empty()) { // Older memory is one object a type.
    Shape Pointed;
    Pointed.What = Core::Record;
    Pointed.Record = R.Extra;
    Pointed.Size = P.record(R.Extra).Size;
    ObjectId Typed = preObject(Pointed);
    return add(R.Other, Typed, normalise(Typed, R.Delta));
  }
  // A part of what the memory is looked at as says nothing about the whole.
  std::vector<RecordKey> Parts;
  for (const auto &View : Base.Views)
    if (What.Offset > 0)
      P.recordsAt(View.first, static_cast<uint64_t>(What.Offset), Parts);
  if (!llvm::is_contained(Parts, R.Extra))
    Base.Views.try_emplace(R.Extra, R.Where);
  add(R.Other, What.In,
      What.Offset == AnyOffset ? AnyOffset : normalise(What.In, What.Offset + R.Delta));
}

void PointsTo::copyBytes(Location To, Location From, Site Where) {
  if (!mayStore(To.In) || To.In == From.In)
    return;
  if (Objects[From.In].Kind == ObjectKind::Input || Objects[From.In].Kind == ObjectKind::Handle)
    return add(cell(To.In, To.Offset), input());
  if (!Objects[From.In].isMemory())
    return;
  Object &Source = Objects[From.In];
  if (Source.Tainted == None) {
    Source.Tainted = makeNodes(1);
    restrictToInput(Source.Tainted);
    addEdge(whole(From.In), Source.Tainted);
  }
  addEdge(Source.Tainted, cell(To.In, To.Offset));
}

void PointsTo::copyObjects(Location To, Location From, uint64_t Size, Site Where) {
  if (!mayStore(To.In))
    return;
  if (Objects[From.In].Kind == ObjectKind::Input || Objects[From.In].Kind == ObjectKind::Handle)
    return fill(To.In, Where);
  if (!Objects[From.In].isMemory() || To.In == From.In)
    return;
  // A copy of unknown length between buffers has no fields to keep apart.
  if (!Size && Objects[From.In].Types.empty())
    From.Offset = AnyOffset;
  if (!Size && Objects[To.In].Types.empty())
    To.Offset = AnyOffset;
  std::vector<ObjectCopy> &Known = Copies[From.In];
  for (const ObjectCopy &Each : Known)
    if (Each.Into == To.In && Each.From == From.Offset && Each.To == To.Offset)
      return;
  ObjectCopy Copy{From.Offset, To.Offset, Size, To.In, Where};
  Known.push_back(Copy);
  for (auto [Offset, Cell] : std::map<int64_t, NodeId>(Objects[From.In].Cells))
    copyCell(Copy, From.In, Offset);
}

void PointsTo::copyCell(const ObjectCopy &Copy, ObjectId From, int64_t Offset) {
  NodeId Source = Objects[From].Cells.at(Offset);
  int64_t Target = AnyOffset;
  if (Offset != AnyOffset && Copy.From != AnyOffset && Copy.To != AnyOffset) {
    if (Offset < Copy.From || (Copy.Size && static_cast<uint64_t>(Offset - Copy.From) >= Copy.Size))
      return;
    Target = normalise(Copy.Into, Offset - Copy.From + Copy.To);
  }
  NodeId To = cell(Copy.Into, Target);
  addFeed(To, Source, Copy.Where);
  addEdge(Source, To);
}

bool PointsTo::pointsInto(NodeId N, ObjectId What) const {
  for (LocationId Each : pointees(N))
    if (Locations[Each].In == What)
      return true;
  return false;
}

void PointsTo::fill(ObjectId What, Site Where) {
  if (!mayStore(What))
    return;
  Filled.try_emplace(What, Where);
  add(cell(What, AnyOffset), input());
}

} // namespace nvmove::solve
