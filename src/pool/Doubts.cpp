// Ends or beginnings: see Doubts.h.
#include "pool/Doubts.h"

#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::pool {

namespace {

/// Where the innermost element of an array of records begins that has the byte; none: in the object itself.
uint64_t elementAt(const std::vector<Member> &Members, uint64_t Offset) {
  for (const Member &M : Members) {
    uint64_t Inside = Offset - M.Offset;
    if (!M.Inner.empty() && Offset >= M.Offset && M.Size && (M.IsTail || Inside < M.Size * M.Count))
      return Offset - Inside % M.Size + elementAt(M.Inner, Inside % M.Size);
  }
  return 0;
}

} // namespace

const Doubts::Shape &Doubts::shapeOf(const TypePlan &Plan) {
  auto [At, IsNew] = Shapes.try_emplace(&Plan);
  if (IsNew) {
    bool IsTable = scalarOf(*Plan.New).has_value(); // of pointers
    At->second = {parseRecord(Plan.New->members), Plan.HasTail || Plan.EndsInArray || IsTable};
  }
  return At->second;
}

void Doubts::look(const Block &In, llvm::ArrayRef<Word> Words) {
  const Shape *Of = In.Plan ? &shapeOf(*In.Plan) : nullptr;
  std::map<uint64_t, std::vector<const Word *>> Objects;
  for (const Word &W : Words) {
    if (W.Place)
      count(&In, W.Address);
    if (!Of || !W.Place || W.Is.field->kind == NVM_FIELD_UNION)
      continue;
    uint64_t Object = Of->IsOne ? 0 : W.Offset / In.Plan->New->size * In.Plan->New->size;
    Objects[Object + elementAt(Of->Is.Members, W.Offset - Object)].push_back(&W);
  }
  for (const auto &[Begin, Object] : Objects)
    lookAtObject(In, Begin, Object);
}

void Doubts::lookAtObject(const Block &In, uint64_t Begin, llvm::ArrayRef<const Word *> Object) {
  constexpr unsigned Few = 4; // pointers of an array that may each mean something else
  std::map<const nvm_field *, unsigned> Number;
  for (const Word *W : Object)
    Number[W->Is.field]++;
  std::vector<WordUse> Sorted;
  for (const Word *W : Object) {
    Use &Of = Uses[{W->Is.field, Number[W->Is.field] > Few ? 0 : W->Offset - Begin}];
    Of.Type = W->Is.type;
    Of.Field = W->Is.field;
    Sorted.emplace_back(W, &Of);
  }
  auto IsBefore = [](const WordUse &A, const WordUse &B) {
    return A.first->Address < B.first->Address;
  };
  llvm::sort(Sorted, IsBefore);
  std::map<uint64_t, const Word *> Last; // of those before, by what they point to
  for (size_t First = 0, Behind = 0; First < Sorted.size(); First = Behind) {
    while (Behind < Sorted.size() && !IsBefore(Sorted[First], Sorted[Behind]))
      ++Behind;
    llvm::ArrayRef<WordUse> Same(&Sorted[First], Behind - First);
    for (const auto &[W, Of] : Same)
      lookAt(In, *W, *Of,
             {First ? Sorted[First - 1].first : nullptr, Last[W->Is.field->target],
              Behind < Sorted.size() ? Sorted[Behind].first : nullptr, Same});
    for (const auto &[W, Of] : Same)
      Last[W->Is.field->target] = W;
  }
}

void Doubts::count(const Block *In, uint64_t Address) {
  const Block *To = Blocks.blockAt(Address);
  if (To && To != In)
    Counts[To]++;
}

void Doubts::lookAt(const Block &In, const Word &W, Use &Of, const Neighbours &Near) {
  auto IsInto = [&](const Word *Other) {
    return Other && Blocks.isInSameBlock(Other->Address, W.Address - 1);
  };
  const Block *Behind = Blocks.startingAt(W.Address);
  bool IsBehind = IsInto(Near.Before), IsAlone = !IsBehind && Near.Same.size() == 1;
  const Pointee &Wanted = Leads.of(W.Is);
  std::optional<ArrayEnd> End = Blocks.endAt(W.Address, Wanted);
  bool IsExact = hasExactly(Blocks.startsThere(W.Address), Wanted),
       IsRatherEnd = End && End->IsExact && !IsExact;
  bool IsInside = Near.After && Blocks.isInSameBlock(W.Address, Near.After->Address);
  bool MayStart = W.NoStart.empty();
  if (MayStart && IsAlone && !IsRatherEnd) {
    Of.Begins |= Behind && !IsInside; // a place in an array may also be its end
    return;
  }
  if (MayStart && !IsBehind && IsInside)
    return; // of an array that begins here
  if (!End)
    return; // inside of an array
  const Block *There = Blocks.blockAt(W.Address);
  bool IsNothing = !There || (There->Plan && !hasPerhaps(Blocks.startsThere(W.Address), Wanted));
  if (IsNothing)
    Of.Ends |= IsBehind;
  bool MayEnd = IsBehind ? IsInto(Near.Alike) || !IsExact || End->IsExact : End->IsExact;
  if (MayStart && (IsNothing || !MayEnd || End->Place == W.Place))
    return;
  if (Of.Open.empty())
    Of.First = Blocks.placeOf(In);
  Doubt Made{{In.New + W.Offset, End->Place, W.Is.field->tag},
             Behind,
             End->HasSeveral,
             IsRatherEnd,
             W.NoStart,
             {}};
  for (const auto &[Other, Its] : Near.Same)
    if (!IsBehind) // an empty array has its end where it begins
      Made.Beside.push_back(Its);
  Of.Open.push_back(std::move(Made));
}

Doubts::Meaning Doubts::saidOf(const Use &Of) const {
  const TypeChange *Said = Of.Type ? Map.find(recordOf(Of.Type->name)) : nullptr;
  if (Said && names(Said->Ends, Of.Field->name))
    return End;
  return Said && names(Said->Begins, Of.Field->name) ? Begin : Unknown;
}

Doubts::Meaning Doubts::meaningOf(const Use &Of) const {
  if (Meaning Said = saidOf(Of); Said != Unknown)
    return Said;
  bool Ends = Of.Ends, Begins = Of.Begins;
  return Ends == Begins ? Ends ? Both : Unknown : Ends ? End : Begin;
}

Doubts::Meaning Doubts::meaningOf(const Use &Of, const Doubt &D) const {
  Meaning Own = meaningOf(Of);
  bool HasEnd = Own == End;
  for (const Use *Other : D.Beside) {
    Meaning Its = meaningOf(*Other);
    if (Its == Begin)
      return Begin;
    HasEnd |= Its == End;
  }
  if (Meaning Said = saidOf(Of); Said != Unknown)
    return Said;
  if (isOnly(D))
    return Begin;
  if (Own == Unknown && HasEnd)
    return End;
  if (Own == Unknown && Of.Type && Of.Field->target == Of.Type->id)
    return Begin; // a link to another one
  return Own == Unknown && !D.HasSeveral && !D.IsRatherEnd ? Begin : Own;
}

/// Nothing else leads to what begins there: it would be lost.
bool Doubts::isOnly(const Doubt &D) const {
  auto At = Counts.find(D.Behind);
  return D.Behind && At != Counts.end() && At->second == 1;
}

llvm::Expected<std::vector<Doubts::Ending>> Doubts::resolve() {
  std::vector<Ending> Found;
  for (auto &[Place, Of] : Uses)
    Of.Begins |= llvm::any_of(Of.Open, [&](const Doubt &D) { return isOnly(D); });
  for (const auto &[Place, Of] : Uses)
    for (const Doubt &D : Of.Open) {
      Meaning Is = meaningOf(Of, D);
      std::string Name = *Of.Field->name ? Of.Field->name : "[]",
                  What = "field " + Name + " of " + Of.First;
      if (Is != End && !D.NoStart.empty())
        return support::failed(D.NoStart);
      if (Is == End && !D.Of.Place)
        return support::failed(What + " leads to the end of what has another length now");
      if (Is == End)
        Found.push_back(D.Of);
      else if (Is != Begin)
        return support::failed(
            What +
            " leads to where an array ends and something else begins. Which of them the "
            "field means, the map has to say of " +
            Of.Type->name + ": 'ends: [" + Name + "]' or 'begins: [" + Name + "]'");
    }
  return Found;
}

} // namespace nvmove::pool
