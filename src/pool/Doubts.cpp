// Ends or beginnings: see Doubts.h.
#include "pool/Doubts.h"

#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::pool {

namespace {

/// Where the innermost record with this byte begins. A base class is a part of its class.
uint64_t recordAt(const std::vector<Member> &Members, const std::vector<Part> &Parts,
                  uint64_t Offset) {
  for (const Member &M : Members) {
    uint64_t Inside = Offset - M.Offset;
    if (!M.Inner.empty() && Offset >= M.Offset && M.Size && (M.IsTail || Inside < M.Size * M.Count))
      return Offset - Inside % M.Size + recordAt(M.Inner, M.Parts, Inside % M.Size);
  }
  uint64_t Begin = 0;
  for (const Part &P : Parts) // a part stands before those in it
    if (!P.IsBase && Offset >= P.Offset && Offset - P.Offset < P.Size)
      Begin = P.Offset;
  return Begin;
}

/// What may be a pointer to an end, or say that another one is: a record has one of each field, not a table.
std::vector<const Word *> singleOnes(llvm::ArrayRef<const Word *> Record) {
  std::map<const nvm_field *, unsigned> Count;
  for (const Word *W : Record)
    Count[W->Is.field]++;
  std::vector<const Word *> Found;
  llvm::copy_if(Record, std::back_inserter(Found),
                [&](const Word *W) { return W->Place && Count[W->Is.field] == 1; });
  return Found;
}

} // namespace

void Doubts::look(const Block &In, llvm::ArrayRef<Word> Words) {
  const nvm_type &Type = *In.Plan->New;
  auto [Shape, IsNew] = Shapes.try_emplace(&Type);
  if (IsNew)
    Shape->second = parseRecord(Type.members);
  const Record &Of = Shape->second;
  bool IsOne = In.Plan->HasTail || In.Plan->EndsInArray;
  std::map<uint64_t, std::vector<const Word *>> Records;
  for (const Word &W : Words) {
    uint64_t Object = IsOne ? 0 : W.Offset / Type.size * Type.size;
    Records[Object + recordAt(Of.Members, Of.Parts, W.Offset - Object)].push_back(&W);
  }
  for (const auto &[Begin, Record] : Records) {
    std::vector<const Word *> Single = singleOnes(Record);
    for (const Word *W : Single)
      lookAt(In, *W, Single);
  }
}

void Doubts::lookAt(const Block &In, const Word &W, llvm::ArrayRef<const Word *> Beside) {
  const nvm_field &Field = *W.Is.field;
  bool HasOther = false, IsThere = false, IsBefore = false;
  for (const Word *Other : Beside) {
    if (Other == &W || Other->Is.field->target != Field.target)
      continue;
    HasOther = true;
    IsThere |= Other->Address == W.Address;
    IsBefore |= Blocks.isInSameBlock(Other->Address, W.Address - 1);
  }
  if (!HasOther || Field.kind == NVM_FIELD_UNION)
    return;
  Use &Of = Uses.try_emplace(&Field, Use{In.Plan->New, false, false, {}, ""}).first->second;
  if (!IsBefore) {
    Of.Begins |= !IsThere; // an empty array may have its end where it begins
    return;
  }
  Pointee Wanted = Leads.of(W.Is);
  std::optional<uint64_t> End = Blocks.endAt(W.Address, Wanted);
  if (End && *End == W.Place)
    Of.Ends |= !Blocks.beginsAt(W.Address, Wanted);
  if (!End || *End == W.Place)
    return;
  if (Of.Open.empty())
    Of.First = Blocks.placeOf(In);
  Of.Open.push_back({In.New + W.Offset, *End, Field.tag});
}

llvm::Expected<std::vector<Doubts::End>> Doubts::resolve() const {
  std::vector<End> Found;
  for (const auto &[Field, Of] : Uses) {
    const TypeChange *Said = Map.find(recordOf(Of.Type->name));
    bool Ends = Said && llvm::is_contained(Said->Ends, Field->name),
         Begins = Said && llvm::is_contained(Said->Begins, Field->name);
    if (!Ends && !Begins)
      Ends = Of.Ends, Begins = Of.Begins;
    if (!Of.Open.empty() && Ends == Begins)
      return support::failed("field " + llvm::Twine(Field->name) + " of " + Of.First +
                             " leads to where an array ends and something else begins. Which of "
                             "them the field means, the map has to say of " +
                             Of.Type->name + ": 'ends: [" + Field->name + "]' or 'begins: [" +
                             Field->name + "]'");
    if (Ends)
      llvm::append_range(Found, Of.Open);
  }
  return Found;
}

} // namespace nvmove::pool
