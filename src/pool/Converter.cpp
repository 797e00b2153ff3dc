// Plans, blocks, pointers: see Converter.h.
#include "pool/Converter.h"

#include "pool/Successor.h"

#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

namespace nvmove::pool {

using support::failed;

namespace {

constexpr uint64_t TransactionBytes = 1 << 20;
constexpr size_t EndsAtOnce = 4096; // in a transaction

} // namespace

/// With what it has to be read by: elements of flexible arrays come first.
llvm::Error Converter::describe(const nvm_type &Type) {
  for (uint32_t I = 0; I < Type.field_count; ++I) {
    const nvm_field &F = Type.fields[I];
    if (F.kind != NVM_FIELD_FLEXIBLE_ARRAY || !F.target || F.target == Type.id)
      continue;
    if (const nvm_type *Element = Leads.typeOf(F.target))
      if (llvm::Error E = describe(*Element))
        return E;
  }
  return nvm_pool_describe(New, &Type) ? lastError() : llvm::Error::success();
}

/// What the map says of the ends of arrays is said of pointers.
llvm::Error Converter::checkEnds(const TypeChange *Change, const nvm_type &Type) {
  if (!Change)
    return llvm::Error::success();
  for (const auto *Names : {&Change->Ends, &Change->Begins})
    for (const std::string &Name : *Names)
      if (llvm::none_of(llvm::ArrayRef(Type.fields, Type.field_count),
                        [&](const nvm_field &F) { return names({Name}, F.name); }))
        return failed("the map's field " + Name + " of " + Type.name + " is no pointer");
  return llvm::Error::success();
}

llvm::Expected<const TypePlan *> Converter::planOf(const nvm_type *Type) {
  if (auto At = Plans.find(Type); At != Plans.end())
    return &At->second;
  const TypeChange *Change = Map.findWas(Type->name);
  llvm::Expected<const nvm_type *> Now = successorOf(*Type, Change, Were, Program);
  if (!Now)
    return Now.takeError();
  auto WasType = [&](uint64_t Id) { return Were.find(Id); };
  auto IsType = [&](uint64_t Id) { return Leads.typeOf(Id); };
  auto Mismatch = [&](const nvm_field &Was, const nvm_field &Is, const nvm_type &In) {
    return Leads.mismatch(Was, Is, In);
  };
  llvm::Expected<TypePlan> Plan = planType(*Type, **Now, Map, {WasType, IsType, Mismatch}, Heard);
  if (!Plan)
    return Plan.takeError();
  if (llvm::Error E = checkEnds(Change, *Plan->New))
    return std::move(E);
  noteRecords(parseRecord(Type->members));
  if (Plan->IsSame)
    Leads.compare(*Plan->Old, *Plan->New);
  if (llvm::Error E = describe(*Plan->New))
    return std::move(E);
  for (const std::string &Note : Plan->Notes)
    Done.Notes.push_back(std::string(Plan->New->name) + ": " + Note);
  return &(Plans[Type] = std::move(*Plan));
}

void Converter::noteRecords(const Record &Of) {
  for (const Part &P : Of.Parts)
    InRecords.insert(P.Type);
  for (const Member &M : Of.Members) {
    InRecords.insert(M.Type);
    noteRecords({M.Inner, M.Parts});
  }
}

llvm::Error Converter::take(const nvm_block &Seen) {
  Block B{static_cast<const char *>(Seen.address), Seen.size, nullptr, 1};
  B.NewSize = Seen.size;
  if (Seen.type && Seen.type->size) {
    llvm::Expected<const TypePlan *> Plan = planOf(Seen.type);
    if (!Plan)
      return Plan.takeError();
    B.Plan = *Plan;
    const nvm_type &Was = *B.Plan->Old, &Is = *B.Plan->New;
    if (B.Plan->HasTail) { // a block may be shorter than its type
      const MemberPair &Tail = B.Plan->Pairs.back();
      uint64_t Bytes = Seen.size > Tail.From.Offset ? Seen.size - Tail.From.Offset : 0;
      B.Count = Bytes / std::max<uint64_t>(Tail.From.Size, 1);
      B.NewSize = std::max<uint64_t>(Is.size, Tail.To.Offset + B.Count * Tail.To.Size);
    } else {
      B.Count = B.Plan->EndsInArray ? 1 : std::max<uint64_t>(Seen.size / Was.size, 1);
      B.NewSize = B.Count * Is.size;
    }
    if (B.Plan->IsSame)
      B.NewSize = Seen.size;
  }
  Blocks.add(B);
  return llvm::Error::success();
}

bool Converter::visitBlock(void *Context, const nvm_block *Seen) {
  auto &Self = *static_cast<Converter *>(Context);
  Self.Failure = Self.take(*Seen);
  return !Self.Failure;
}

llvm::Error Converter::allocate(Block &B) {
  B.New = static_cast<char *>(nvm_calloc(New, B.Plan ? B.Plan->New->id : 0, 1, B.NewSize));
  return B.New ? llvm::Error::success() : lastError();
}

/// What is behind the record goes on from a place that the record fills up: only the map can say how it moves.
llvm::Error Converter::checkPadding(const Block &B, const char *Bytes) const {
  const TypePlan &Plan = *B.Plan;
  auto IsZero = [](char Byte) { return Byte == 0; };
  bool IsClear = llvm::all_of(llvm::ArrayRef(Bytes + Plan.PaddingFrom, Plan.PaddingSize), IsZero);
  bool IsRight = Plan.GoesOn ? !Plan.PaddingSize || !IsClear || B.OldSize <= Plan.Old->size ||
                                   IsZero(Bytes[Plan.Old->size])
                             : IsClear;
  return IsRight ? llvm::Error::success()
                 : failed(Blocks.placeOf(B) + ": the " + llvm::Twine(Plan.PaddingSize) +
                          " bytes that fill the record up are " +
                          (Plan.GoesOn ? "zero, and more follows"
                                       : "not zero: what is behind may begin in them") +
                          ". The map has to say whether that is the rest of the last array "
                          "('behind: array') or is behind the record ('behind: record')");
}

/// The new block's bytes, with the old pool's addresses in them.
llvm::Error Converter::convertBytes(const Block &B, std::vector<char> &Bytes) {
  if (!B.Plan || B.Plan->IsSame) {
    memcpy(Bytes.data(), B.Old, B.OldSize);
    return llvm::Error::success();
  }
  std::vector<char> Whole(std::max(B.OldSize, B.Plan->Old->size));
  memcpy(Whole.data(), B.Old, B.OldSize);
  Done.Changed++;
  if (llvm::Error E = checkPadding(B, Whole.data()))
    return E;
  uint64_t Count = B.Plan->HasTail ? 1 : B.Count;
  for (uint64_t N = 0; N < Count; ++N) {
    char *To = Bytes.data() + N * B.Plan->New->size;
    storeConstants(B.Plan->Constants, B.Plan->Pairs, To);
    llvm::Error E = convertRecord(B.Plan->Pairs, Whole.data() + N * B.Plan->Old->size, To);
    if (!E && B.Plan->HasTail)
      E = convertTail(B.Plan->Pairs.back(), Whole.data(), To, B.Count);
    if (E)
      return failed(Blocks.placeOf(B) + ": " + llvm::toString(std::move(E)));
  }
  return llvm::Error::success();
}

llvm::Error Converter::fill(Block &B) {
  std::vector<char> Bytes(B.NewSize);
  Done.Blocks++;
  Current = &B;
  if (llvm::Error E = convertBytes(B, Bytes))
    return E;
  static const nvm_field Untyped = [] {
    nvm_field Any = {};
    Any.name = "[]";
    Any.kind = NVM_FIELD_UNION;
    return Any;
  }();
  Words.clear();
  if (B.Plan && nvm_pool_each_word(New, B.Plan->New->id, Bytes.data(), B.NewSize, visitWord, this))
    return lastError();
  for (uint64_t At = 0; !B.Plan && At + 8 <= B.NewSize; At += 8)
    Words.push_back({{Bytes.data() + At, nullptr, &Untyped}, 0, 0});
  for (Word &W : Words) {
    W.Offset = static_cast<uint64_t>(static_cast<char *>(W.Is.at) - Bytes.data());
    if (llvm::Error E = translate(W))
      return E;
  }
  Doubtful.look(B, Words);
  return nvm_pool_store(New, B.New, Bytes.data(), B.NewSize) ? lastError() : llvm::Error::success();
}

bool Converter::visitWord(void *Context, const nvm_word *Word) {
  static_cast<Converter *>(Context)->Words.push_back({*Word, 0, 0});
  return true;
}

/// The same rules as when a pool moves to another address (docs/guide/operations.md).
llvm::Error Converter::translate(Word &W) {
  const nvm_field &Field = *W.Is.field;
  uint64_t Value;
  memcpy(&Value, W.Is.at, sizeof Value);
  uint64_t Tag = Field.tag, Address = W.Address = Value & ~Tag;
  std::string What =
      "field " + std::string(*Field.name ? Field.name : "[]") + " of " + Blocks.placeOf(*Current);
  switch (Field.kind) {
  case NVM_FIELD_FUNCTION:
  case NVM_FIELD_STATIC_POINTER:
    return llvm::Error::success();
  case NVM_FIELD_XOR:
  case NVM_FIELD_ADDRESS:
    return Value ? failed(What + " is made of addresses; such a pool cannot be converted")
                 : llvm::Error::success();
  case NVM_FIELD_UNION:
    if (!Blocks.leadsIn(Address) || Map.Words == FieldMap::Numbers)
      return llvm::Error::success();
    if (Map.Words == FieldMap::Refuse)
      return failed(What + " may be a pointer or a number ('undecided: pointers' or 'numbers' in "
                           "the map decides for all such words, NVM_WHEN for one field)");
    break;
  default:
    if (!Blocks.leadsIn(Address))
      return llvm::Error::success();
  }
  const Pointee &Wanted = Leads.of(W.Is);
  llvm::Expected<uint64_t> Place = Blocks.newPlace(Address, Wanted, What, W.NoStart);
  if (!Place)
    return Place.takeError();
  if (!W.NoStart.empty() && (!Current->Plan || Field.kind == NVM_FIELD_UNION))
    return failed(W.NoStart); // nobody asks whether it is an end
  if (Wanted.IsAnything && Current->Plan && Blocks.hasMovedRecord(Address) &&
      ToObjects.insert(&Field).second)
    Done.Notes.push_back(std::string(Current->Plan->New->name) + ": field " + Field.name +
                         " has no type that tells whether it leads to objects or to their first "
                         "records, which lie elsewhere now: it leads to the objects");
  if (*Place & Tag)
    return failed(What + " leads to where bits of its address would be taken for its tag");
  uint64_t Now = *Place | (Value & Tag);
  memcpy(W.Is.at, &Now, sizeof Now);
  W.Place = *Place;
  Done.Pointers++;
  return llvm::Error::success();
}

/// Pointers that were taken for beginnings until all blocks were seen.
llvm::Error Converter::moveEnds() {
  llvm::Expected<std::vector<Doubts::Ending>> Ends = Doubtful.resolve();
  if (!Ends)
    return Ends.takeError();
  for (size_t I = 0; I < Ends->size(); ++I) {
    const Doubts::Ending &E = (*Ends)[I];
    bool IsFirst = I % EndsAtOnce == 0, IsLast = I % EndsAtOnce == EndsAtOnce - 1;
    uint64_t Value;
    memcpy(&Value, E.At, sizeof Value);
    Value = *E.Place | (Value & E.Tag);
    if (IsFirst && nvm_tx_begin(New))
      return lastError();
    if (nvm_pool_store(New, E.At, &Value, sizeof Value)) {
      llvm::Error Why = lastError();
      nvm_tx_abort(New);
      return Why;
    }
    if ((IsLast || I + 1 == Ends->size()) && nvm_tx_commit(New))
      return lastError();
  }
  return llvm::Error::success();
}

/// The pool's types that an entry of the map is about.
std::vector<const nvm_type *> Converter::typesOf(const TypeChange &T) const {
  std::vector<const nvm_type *> All;
  for (const char *More : MoreBehind)
    llvm::append_range(All, Were.named((T.Was.empty() ? T.Name : T.Was) + More));
  return All;
}

/// What the map says of no type, or of one that has no block, would be lost without a word.
llvm::Error Converter::checkMap() {
  for (const TypeChange &T : Map.Types) {
    std::vector<const nvm_type *> Then = typesOf(T);
    if (Program.named(T.Name).empty() && Then.empty())
      return failed("the map's " + T.Name + " is a type of neither the pool nor the program");
    bool IsAnyNew = Then.empty();
    for (const nvm_type *Type : Then) {
      llvm::Expected<const TypePlan *> Plan = planOf(Type);
      if (!Plan)
        return Plan.takeError();
      IsAnyNew |= !(*Plan)->IsSame;
    }
    if (!IsAnyNew && T.changesMembers())
      return failed("the map changes " + T.Name +
                    ", which is the same in the pool and the program");
  }
  return llvm::Error::success();
}

/// Of a type that only lies in other records: once these are planned.
llvm::Error Converter::checkHeard() const {
  for (const TypeChange &T : Map.Types) {
    if (!typesOf(T).empty())
      continue;
    if (!T.Was.empty() && !InRecords.count(T.Was))
      return failed("the map's " + T.Was + " (now " + T.Name + ") is not a type of the pool");
    for (const FieldChange &F : T.Fields)
      if (!Heard.count(&F))
        return failed("the map's field " + F.Name + " of " + T.Name +
                      " is in no record of the pool");
  }
  return llvm::Error::success();
}

/// For all blocks, in transactions that do not grow too long.
llvm::Error Converter::each(llvm::function_ref<llvm::Error(Block &)> Do) {
  uint64_t Open = 0;
  if (nvm_tx_begin(New))
    return lastError();
  for (Block &B : Blocks.all()) {
    if (llvm::Error E = Do(B)) {
      nvm_tx_abort(New);
      return E;
    }
    Open += B.NewSize;
    if (Open < TransactionBytes)
      continue;
    Open = 0;
    Progress(static_cast<uint64_t>(&B - Blocks.all().data()), Blocks.all().size());
    if (nvm_tx_commit(New) || nvm_tx_begin(New))
      return lastError();
  }
  return nvm_tx_commit(New) ? lastError() : llvm::Error::success();
}

llvm::Error Converter::run() {
  nvm_account Account;
  if (nvm_pool_account(Old, &Account))
    return lastError();
  if (llvm::Error E = checkMap())
    return E;
  if (nvm_pool_each_block(Old, false, visitBlock, this))
    return llvm::joinErrors(lastError(), std::move(Failure));
  if (Failure)
    return std::move(Failure);
  if (llvm::Error E = checkHeard())
    return E;
  Blocks.sort();
  if (llvm::Error E = each([&](Block &B) { return allocate(B); }))
    return E;
  if (llvm::Error E = each([&](Block &B) { return fill(B); }))
    return E;
  Doubtful.lookAtRoot(reinterpret_cast<uint64_t>(nvm_pool_root(Old)));
  if (llvm::Error E = moveEnds())
    return E;
  if (void *Root = nvm_pool_root(Old)) {
    std::string NoStart; // a root is no end
    llvm::Expected<uint64_t> Place =
        Blocks.newPlace(reinterpret_cast<uint64_t>(Root), anything(), "the root", NoStart);
    if (!NoStart.empty())
      return failed(NoStart);
    if (!Place)
      return Place.takeError();
    if (nvm_tx_begin(New) || nvm_pool_set_root(New, reinterpret_cast<void *>(*Place)) ||
        nvm_tx_commit(New))
      return lastError();
  }
  if (nvm_pool_convert_statics(New, Old) ||
      (Account.counts_references && nvm_pool_count_references(New)))
    return lastError();
  return llvm::Error::success();
}

} // namespace nvmove::pool
