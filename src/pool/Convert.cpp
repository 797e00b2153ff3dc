// Converting a pool: see Convert.h.
#include "pool/Convert.h"

#include "pool/BlockMap.h"
#include "pool/Census.h"
#include "pool/Pointees.h"
#include "pool/Successor.h"

#include "nvmove/convert.h"
#include "support/Failed.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <cstring>
#include <fcntl.h>
#include <set>
#include <unistd.h>

namespace nvmove::pool {

using support::failed;

namespace {

constexpr uint64_t TransactionBytes = 1 << 20;

class Converter {
public:
  using ProgressFunction = llvm::function_ref<void(uint64_t, uint64_t)>;
  Converter(NVM_POOL *Old, uint64_t Size, NVM_POOL *New, const Layouts &Were,
            const Layouts &Program, const FieldMap &Map, ProgressFunction Progress)
      : Old(Old), New(New), Were(Were), Program(Program), Map(Map), Progress(Progress),
        Leads(Were, Program, Map), Blocks(Old, Size) {}

  llvm::Error run();
  Converted Done;

private:
  static bool visitBlock(void *Context, const nvm_block *Seen);
  static bool visitWord(void *Context, const nvm_word *Word);

  llvm::Expected<const TypePlan *> planOf(const nvm_type *Type);
  llvm::Error describe(const nvm_type &Type);
  void noteRecords(const Record &Of);
  llvm::Error take(const nvm_block &Seen);
  llvm::Error allocate(Block &B);
  llvm::Error convertBytes(const Block &B, std::vector<char> &Bytes);
  llvm::Error fill(Block &B);
  llvm::Error translate(const nvm_word &Word);
  llvm::Error each(llvm::function_ref<llvm::Error(Block &)> Do);
  std::vector<const nvm_type *> typesOf(const TypeChange &T) const;
  llvm::Error checkMap();
  llvm::Error checkHeard() const;

  NVM_POOL *Old, *New;
  const Layouts &Were, &Program;
  const FieldMap &Map;
  ProgressFunction Progress;
  std::map<const nvm_type *, TypePlan> Plans;
  Pointees Leads;
  std::set<const FieldChange *> Heard; ///< of types of records in other records
  std::set<std::string> InRecords;     ///< types of records in the pool's records
  BlockMap Blocks;
  llvm::Error Failure = llvm::Error::success();
  const Block *Current = nullptr;
};

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

llvm::Expected<const TypePlan *> Converter::planOf(const nvm_type *Type) {
  if (auto At = Plans.find(Type); At != Plans.end())
    return &At->second;
  const TypeChange *Change = Map.findWas(Type->name);
  llvm::Expected<const nvm_type *> Now = successorOf(*Type, Change, Were, Program);
  if (!Now)
    return Now.takeError();
  auto WasType = [&](uint64_t Id) { return Were.find(Id); };
  auto IsType = [&](uint64_t Id) { return Leads.typeOf(Id); };
  auto Mismatch = [&](const nvm_field &Was, const nvm_field &Is) {
    return Leads.mismatch(Was, Is);
  };
  llvm::Expected<TypePlan> Plan = planType(*Type, **Now, Map, {WasType, IsType, Mismatch}, Heard);
  if (!Plan)
    return Plan.takeError();
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

/// The new block's bytes, with the old pool's addresses in them.
llvm::Error Converter::convertBytes(const Block &B, std::vector<char> &Bytes) {
  if (!B.Plan || B.Plan->IsSame) {
    memcpy(Bytes.data(), B.Old, B.OldSize);
    return llvm::Error::success();
  }
  std::vector<char> Whole(std::max(B.OldSize, B.Plan->Old->size));
  memcpy(Whole.data(), B.Old, B.OldSize);
  Done.Changed++;
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
  nvm_field Untyped = {};
  Untyped.name = "[]";
  Untyped.kind = NVM_FIELD_UNION;
  if (B.Plan && nvm_pool_each_word(New, B.Plan->New->id, Bytes.data(), B.NewSize, visitWord, this))
    return lastError();
  if (Failure)
    return std::move(Failure);
  for (uint64_t At = 0; !B.Plan && At + 8 <= B.NewSize; At += 8)
    if (llvm::Error E = translate({Bytes.data() + At, nullptr, &Untyped}))
      return E;
  return nvm_pool_store(New, B.New, Bytes.data(), B.NewSize) ? lastError() : llvm::Error::success();
}

bool Converter::visitWord(void *Context, const nvm_word *Word) {
  auto &Self = *static_cast<Converter *>(Context);
  Self.Failure = Self.translate(*Word);
  return !Self.Failure;
}

/// The same rules as when a pool moves to another address (docs/guide/operations.md).
llvm::Error Converter::translate(const nvm_word &Word) {
  uint64_t Value;
  memcpy(&Value, Word.at, sizeof Value);
  uint64_t Tag = Word.field->tag, Address = Value & ~Tag;
  std::string What = "field " + std::string(*Word.field->name ? Word.field->name : "[]") + " of " +
                     Blocks.placeOf(*Current);
  switch (Word.field->kind) {
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
  llvm::Expected<uint64_t> Place = Blocks.newPlace(Address, Leads.of(*Word.field), What);
  if (!Place)
    return Place.takeError();
  if (*Place & Tag)
    return failed(What + " leads to where bits of its address would be taken for its tag");
  uint64_t Now = *Place | (Value & Tag);
  memcpy(Word.at, &Now, sizeof Now);
  Done.Pointers++;
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
    for (const nvm_type *Type : Then)
      if (llvm::Expected<const TypePlan *> Plan = planOf(Type); !Plan)
        return Plan.takeError();
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
  if (void *Root = nvm_pool_root(Old)) {
    llvm::Expected<uint64_t> Place =
        Blocks.newPlace(reinterpret_cast<uint64_t>(Root), anything(), "the root");
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

/// Under its name once it is sound and on the disk.
llvm::Error publish(const std::string &Made, const std::string &To) {
  llvm::Expected<Findings> Found = checkPool(Made);
  if (!Found)
    return Found.takeError();
  if (!Found->Faults.empty())
    return failed(To + ": what was made is not sound: " + Found->Faults.front());
  llvm::SmallString<256> Folder(To);
  llvm::sys::path::remove_filename(Folder);
  int File = open(Made.c_str(), O_RDWR | O_CLOEXEC);
  int Directory = open(Folder.empty() ? "." : Folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool Synced = File >= 0 && Directory >= 0 && fsync(File) == 0 &&
                link(Made.c_str(), To.c_str()) == 0 && fsync(Directory) == 0;
  int Cause = errno;
  for (int Descriptor : {File, Directory})
    if (Descriptor >= 0)
      close(Descriptor);
  return Synced ? llvm::Error::success() : failed(To + ": " + strerror(Cause));
}

} // namespace

llvm::Expected<Converted> convert(const std::string &From, const std::string &To, uint64_t Size,
                                  const Layouts *Program, const FieldMap &Map,
                                  llvm::function_ref<void(uint64_t, uint64_t)> Progress) {
  if (llvm::sys::fs::exists(To))
    return failed(To + ": the file exists; what is made goes into a new one");
  llvm::Expected<OpenPool> Old = OpenPool::look(From);
  if (!Old)
    return Old.takeError();
  nvm_info Info;
  if (nvm_pool_info(Old->get(), &Info))
    return lastError();
  llvm::Expected<Layouts> Were = Layouts::of(Old->get());
  if (!Were)
    return Were.takeError();
  std::string Made = To + "." + std::to_string(getpid()) + ".new";
  llvm::sys::RemoveFileOnSignal(Made);
  constexpr uint64_t Least = 1 << 20; // a pool that was made shorter may have less
  llvm::Expected<OpenPool> New =
      OpenPool::create(Made, Size ? Size : std::max(Info.size, Least), From);
  if (!New)
    return New.takeError();
  Converter C(Old->get(), Info.size, New->get(), *Were, Program ? *Program : *Were, Map, Progress);
  llvm::Error E = C.run();
  if (!E)
    E = New->close();
  if (!E)
    E = publish(Made, To);
  llvm::sys::fs::remove(Made);
  llvm::sys::DontRemoveFileOnSignal(Made);
  if (E)
    return std::move(E);
  return std::move(C.Done);
}

} // namespace nvmove::pool
