// What records have to do with it: which casts an object passes, and the objects that one block or
// one allocator turns out to be. See PointsTo.h.
#include "solve/pointsto/PointsTo.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

/// The record that the pointer variable at \p Where is declared to point to, when a store through
/// another type of pointer, "*(struct base **)&variable = p", says something else. None when it
/// says the same or nothing is known.
RecordKey PointsTo::keptAs(Location Where, const Shape &StoredAs) const {
  const Object &In = Objects[Where.In];
  const Shape &Kept = In.Type;
  bool Variable = In.Kind == ObjectKind::Stack || In.Kind == ObjectKind::Global;
  if (!Variable || Where.Offset != 0 || !Kept.isPointerTo(Core::Record) || Kept.Array ||
      !StoredAs.isPointerTo(Core::Record) || StoredAs.Record == Kept.Record ||
      !P.record(Kept.Record).Complete || !P.record(StoredAs.Record).Complete)
    return None;
  return Kept.Record;
}

/// True for memory of unknown size that the program calls by the name of \p Longer's base.
bool PointsTo::isBaseOf(const Object &What, RecordKey Longer) const {
  if (What.Kind != ObjectKind::Heap || !What.Guessed || What.Types.size() != 1)
    return false;
  RecordKey Base = *What.Types.begin();
  std::vector<RecordKey> First;
  P.recordsAt(Longer, 0, First);
  return Base != Longer && (llvm::is_contained(First, Base) || P.extends(Longer, Base));
}

/// What one allocation gives under the name of a base is, in a variable that points to a longer
/// record, an object of its own: one function may make all of a program's records. It begins with
/// whatever is put into the base.
void PointsTo::specialise(const Waiting &R, Location What) {
  const Object &From = Objects[What.In];
  if (!From.isMemory())
    return add(R.Other, location(What.In, What.Offset));
  if (!castPasses(From, What.Offset, R.Extra))
    return;
  if (What.Offset != 0 || !isBaseOf(From, R.Extra))
    return add(R.Other, location(What.In, What.Offset));
  auto [It, New] = Special.try_emplace({What.In, R.Extra}, None);
  if (New) {
    Object Made;
    Made.Kind = From.Kind;
    Made.Made = From.Made;
    Made.Guessed = true;
    It->second = makeObject(std::move(Made));
    setType(It->second, R.Extra, R.Where);
    copyObjects({It->second, 0}, {What.In, 0}, 0, R.Where);
  }
  add(R.Other, location(Special[{What.In, R.Extra}], 0));
}

/// A block of sizeof(header) + size: whoever steps over the header by its size gets an object of
/// the other records that the block was made for. None when no record of the block ends there.
ObjectId PointsTo::behindHeader(Location What, int64_t Delta) {
  Object &Block = Objects[What.In];
  if (Block.Kind != ObjectKind::Heap || What.Offset != 0 || Delta <= 0)
    return None;
  if (Block.Behind != None)
    return static_cast<int64_t>(P.record(*Block.Types.begin()).Size) == Delta ? Block.Behind : None;
  auto Ends = [&](RecordKey Key) { return static_cast<int64_t>(P.record(Key).Size) == Delta; };
  if (Block.Types.size() < 2 || llvm::count_if(Block.Types, Ends) != 1)
    return None;
  Object Made;
  Made.Kind = Block.Kind;
  Made.Made = Block.Made;
  std::set<RecordKey> Header;
  for (RecordKey Key : Block.Types)
    (Ends(Key) ? Header : Made.Types).insert(Key);
  Made.TypeSites = Block.TypeSites;
  ObjectId Behind = makeObject(std::move(Made));
  Objects[What.In].Types = Header;
  return Objects[What.In].Behind = Behind;
}

/// True when \p Wanted lies at byte \p Offset of \p Known (anywhere in it for AnyOffset), or begins
/// with it.
bool PointsTo::fits(RecordKey Known, int64_t Offset, RecordKey Wanted) {
  if (Known == Wanted && (Offset == 0 || Offset == AnyOffset))
    return true;
  if (!P.record(Known).Complete || !P.record(Wanted).Complete)
    return true; // An opaque tag stands for anything: "struct unit_list" for "struct list".
  uint64_t Size = P.record(Known).Size;
  if (Offset != AnyOffset && Size)
    Offset %= static_cast<int64_t>(Size);
  auto [It, New] = Fits.try_emplace({{Known, Wanted}, Offset}, false);
  if (!New)
    return It->second;
  std::vector<RecordKey> Inside;
  bool Fitting = false;
  if (Offset == AnyOffset) {
    for (const RecordField &Field : P.record(Known).Fields)
      if (Field.Type.What == Core::Record && !Field.Type.Pointers)
        Fitting |= fits(Field.Type.Record, AnyOffset, Wanted);
  } else {
    P.recordsAt(Known, static_cast<uint64_t>(Offset), Inside);
    Fitting = llvm::is_contained(Inside, Wanted);
  }
  if (!Fitting && (Offset == 0 || Offset == AnyOffset)) {
    Inside.clear();
    P.recordsAt(Wanted, 0, Inside);
    Fitting =
        llvm::is_contained(Inside, Known) || P.extends(Wanted, Known) || P.extends(Known, Wanted);
  }
  return Fits[{{Known, Wanted}, Offset}] = Fitting;
}

bool PointsTo::castPasses(const Object &What, int64_t Offset, RecordKey Record) {
  if (What.Types.empty())
    return true;
  for (RecordKey Known : What.Types)
    if ((Offset >= 0 || Offset == AnyOffset) && fits(Known, Offset, Record))
      return true;
  return false;
}

void PointsTo::applyCast(const Waiting &R, Location What) {
  Object &From = Objects[What.In];
  const Shape &Type = Shapes[R.ShapeIndex];
  if (!From.isMemory())
    return add(R.Other, location(What.In, What.Offset));
  // "char *p = value;" unpacks a string: a record's start is none. "(char *)value + n" computes.
  if (Type.isPointerTo(Core::Char)) {
    bool AtBirth = From.Made.At && From.Made.In == R.Where.In;
    if (From.Types.empty() || !R.Where.At->Implicit || From.Kind == ObjectKind::Stack || AtBirth)
      return add(R.Other, location(What.In, What.Offset));
    if (What.Offset != 0)
      add(R.Other, What.In, AnyOffset);
    return;
  }
  if (!Type.isPointerTo(Core::Record))
    return add(R.Other, location(What.In, What.Offset));
  if (From.Kind == ObjectKind::Pre && From.Type.What != Core::Record) {
    Shape Pointed = Type;
    Pointed.Pointers = 0;
    return add(R.Other, preObject(Pointed), 0);
  }
  if ((From.Bytes && !R.Delta) || !castPasses(From, What.Offset, Type.Record))
    return;
  if (R.Where.At->Code == facts::Op::Cast)
    From.Views.try_emplace(Type.Record, R.Where);
  add(R.Other, location(What.In, What.Offset));
}

void PointsTo::setType(ObjectId What, RecordKey Record, Site Where) {
  if (Objects[What].Behind != None && !Objects[What].Types.count(Record))
    What = Objects[What].Behind;
  Objects[What].Types.insert(Record);
  Objects[What].TypeSites.try_emplace(Record, Where);
}

} // namespace nvmove::solve
