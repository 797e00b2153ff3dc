// Converting a pool: see Convert.h.
#include "pool/Convert.h"

#include "pool/Census.h"
#include "pool/Plan.h"
#include "pool/Successor.h"

#include "nvmove/convert.h"
#include "support/Failed.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace nvmove::pool {

using support::failed;

namespace {

constexpr uint64_t TransactionBytes = 1 << 20;

/// A block of the old pool, and the new one that stands for it.
struct Block {
  const char *Old;
  uint64_t OldSize;
  const TypePlan *Plan; ///< null: without type
  uint64_t Count;       ///< objects, or elements of the flexible array
  char *New = nullptr;
  uint64_t NewSize = 0;
};

class Converter {
public:
  using ProgressFunction = llvm::function_ref<void(uint64_t, uint64_t)>;
  Converter(NVM_POOL *Old, NVM_POOL *New, const Layouts &Were, const Layouts &Program,
            const FieldMap &Map, ProgressFunction Progress)
      : Old(Old), New(New), Were(Were), Program(Program), Map(Map), Progress(Progress) {}

  llvm::Error run();
  Converted Done;

private:
  static bool visitBlock(void *Context, const nvm_block *Seen);
  static bool visitWord(void *Context, const nvm_word *Word);

  llvm::Expected<const TypePlan *> planOf(const nvm_type *Type);
  llvm::Error describe(const nvm_type &Type);
  llvm::Error take(const nvm_block &Seen);
  llvm::Error allocate(Block &B);
  llvm::Error convertBytes(const Block &B, std::vector<char> &Bytes);
  llvm::Error fill(Block &B);
  llvm::Error translate(const nvm_word &Word);
  llvm::Error each(llvm::function_ref<llvm::Error(Block &)> Do);
  static std::optional<char *> endOf(const Block &B, const char *At);
  llvm::Expected<uint64_t> newPlace(uint64_t Address, uint64_t Target, const llvm::Twine &What);
  llvm::Expected<std::optional<uint64_t>> placeInObject(const TypePlan &Plan, uint64_t Inside,
                                                        uint64_t Target);
  /// The program's, or one of a type that stays as it is.
  const nvm_type *typeOf(uint64_t Id) const {
    const nvm_type *Type = Program.find(Id);
    return Type ? Type : Were.find(Id);
  }
  std::string placeOf(const Block &B) const;
  bool leadsIn(uint64_t Address) const {
    return Address - reinterpret_cast<uint64_t>(nvm_pool_base(Old)) < Size;
  }

  NVM_POOL *Old, *New;
  const Layouts &Were, &Program;
  const FieldMap &Map;
  ProgressFunction Progress;
  uint64_t Size = 0;
  std::map<const nvm_type *, TypePlan> Plans;
  std::vector<Block> Blocks; ///< by address
  llvm::Error Failure = llvm::Error::success();
  const Block *Current = nullptr;
};

std::string Converter::placeOf(const Block &B) const {
  std::string Type = B.Plan ? B.Plan->Old->name : "block without type";
  return Type + " at @0x" +
         llvm::utohexstr(
             static_cast<uint64_t>(B.Old - static_cast<const char *>(nvm_pool_base(Old))),
             /*LowerCase=*/true);
}

/// With what it has to be read by: elements of flexible arrays come first.
llvm::Error Converter::describe(const nvm_type &Type) {
  for (uint32_t I = 0; I < Type.field_count; ++I) {
    const nvm_field &F = Type.fields[I];
    if (F.kind != NVM_FIELD_FLEXIBLE_ARRAY || !F.target || F.target == Type.id)
      continue;
    if (const nvm_type *Element = typeOf(F.target))
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
  llvm::Expected<TypePlan> Plan = planType(*Type, **Now, Change);
  if (!Plan)
    return Plan.takeError();
  if (llvm::Error E = describe(*Plan->New))
    return std::move(E);
  for (const std::string &Note : Plan->Notes)
    Done.Notes.push_back(std::string(Plan->New->name) + ": " + Note);
  return &(Plans[Type] = std::move(*Plan));
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
    } else if (!B.Plan->IsSame) {
      B.Count = B.Plan->EndsInArray ? 1 : std::max<uint64_t>(Seen.size / Was.size, 1);
      B.NewSize = B.Count * Is.size;
    }
  }
  Blocks.push_back(B);
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
    llvm::Error E = convertRecord(B.Plan->Pairs, Whole.data() + N * B.Plan->Old->size, To);
    if (!E && B.Plan->HasTail)
      E = convertTail(B.Plan->Pairs.back(), Whole.data(), To, B.Count);
    if (E)
      return failed(placeOf(B) + ": " + llvm::toString(std::move(E)));
    for (const Constant &C : B.Plan->Constants)
      storeInteger(C.To, To + C.To.Offset, C.Value);
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
                     placeOf(*Current);
  switch (Word.field->kind) {
  case NVM_FIELD_FUNCTION:
  case NVM_FIELD_STATIC_POINTER:
    return llvm::Error::success();
  case NVM_FIELD_XOR:
  case NVM_FIELD_ADDRESS:
    return Value ? failed(What + " is made of addresses; such a pool cannot be converted")
                 : llvm::Error::success();
  case NVM_FIELD_UNION:
    if (!leadsIn(Address) || Map.Words == FieldMap::Numbers)
      return llvm::Error::success();
    if (Map.Words == FieldMap::Refuse)
      return failed(What + " may be a pointer or a number ('undecided: pointers' or 'numbers' in "
                           "the map decides for all such words, NVM_WHEN for one field)");
    break;
  default:
    if (!leadsIn(Address))
      return llvm::Error::success();
  }
  llvm::Expected<uint64_t> Place = newPlace(Address, Word.field->target, What);
  if (!Place)
    return Place.takeError();
  uint64_t Now = *Place | (Value & Tag);
  memcpy(Word.at, &Now, sizeof Now);
  Done.Pointers++;
  return llvm::Error::success();
}

/// Where an object begins, so does its first member: what the pointer leads to by its type decides.
/// A type that is not known may be either; an error if that matters.
llvm::Expected<std::optional<uint64_t>> Converter::placeInObject(const TypePlan &Plan,
                                                                 uint64_t Inside, uint64_t Target) {
  const nvm_type *Type = Target ? typeOf(Target) : nullptr;
  llvm::StringRef Name = Type ? Type->name : "";
  bool IsObject = !Target || Name == Plan.New->name || Name == Plan.Old->name;
  auto Place = [&](bool Deep) { return placeIn(Plan.Pairs, Plan.Records, Inside, Deep); };
  std::optional<uint64_t> Record = Inside || !IsObject ? Place(false) : 0, Number = Place(true);
  if (Target && !Type && Record != Number)
    return failed(" leads to where a record and its first member begin; which is meant, only the "
                  "program itself can say ('--layouts PROGRAM')");
  return Type && isScalar(*Type) ? Number : Record;
}

/// C allows a pointer to the end of an array: where the last whole element of a block ends is what it
/// leads to, unless another block begins there.
std::optional<char *> Converter::endOf(const Block &B, const char *At) {
  uint64_t Was = B.OldSize, Is = B.OldSize;
  if (B.Plan && !B.Plan->IsSame) {
    const MemberPair *Tail = B.Plan->HasTail ? &B.Plan->Pairs.back() : nullptr;
    Was = Tail ? Tail->From.Offset + B.Count * Tail->From.Size : B.Count * B.Plan->Old->size;
    Is = Tail ? Tail->To.Offset + B.Count * Tail->To.Size : B.Count * B.Plan->New->size;
  }
  return At == B.Old + Was && Was <= B.OldSize ? std::optional(B.New + Is) : std::nullopt;
}

llvm::Expected<uint64_t> Converter::newPlace(uint64_t Address, uint64_t Target,
                                             const llvm::Twine &What) {
  auto *At = reinterpret_cast<const char *>(Address);
  auto Behind =
      llvm::upper_bound(Blocks, At, [](const char *A, const Block &B) { return A < B.Old; });
  const Block *Before = Behind == Blocks.begin() ? nullptr : &*std::prev(Behind);
  if (std::optional<char *> End = Before ? endOf(*Before, At) : std::nullopt)
    return reinterpret_cast<uint64_t>(*End);
  if (!Before || static_cast<uint64_t>(At - Before->Old) >= Before->OldSize)
    return failed(
        What + " leads to nothing. On a copy: 'nvmove pool gc' frees the block that has it if "
               "the root does not lead there, 'nvmove pool repair --null-dangling' makes it null");
  const Block &B = *Before;
  auto Inside = static_cast<uint64_t>(At - B.Old), Index = uint64_t(0);
  if (B.Plan && !B.Plan->IsSame) {
    if (!B.Plan->EndsInArray) {
      Index = Inside / B.Plan->Old->size;
      Inside %= B.Plan->Old->size;
    }
    llvm::Expected<std::optional<uint64_t>> There = placeInObject(*B.Plan, Inside, Target);
    if (!There)
      return failed(What + llvm::toString(There.takeError()));
    if (!*There || (Index && Index >= B.Count))
      return failed(What + " leads into what is given up of " + placeOf(B));
    Inside = Index * B.Plan->New->size + **There;
  }
  return reinterpret_cast<uint64_t>(B.New) + Inside;
}

/// For all blocks, in transactions that do not grow too long.
llvm::Error Converter::each(llvm::function_ref<llvm::Error(Block &)> Do) {
  uint64_t Open = 0;
  if (nvm_tx_begin(New))
    return lastError();
  for (Block &B : Blocks) {
    if (llvm::Error E = Do(B)) {
      nvm_tx_abort(New);
      return E;
    }
    Open += B.NewSize;
    if (Open < TransactionBytes)
      continue;
    Open = 0;
    Progress(static_cast<uint64_t>(&B - Blocks.data()), Blocks.size());
    if (nvm_tx_commit(New) || nvm_tx_begin(New))
      return lastError();
  }
  return nvm_tx_commit(New) ? lastError() : llvm::Error::success();
}

llvm::Error Converter::run() {
  nvm_info Info;
  nvm_account Account;
  if (nvm_pool_info(Old, &Info) || nvm_pool_account(Old, &Account))
    return lastError();
  Size = Info.size;
  if (nvm_pool_each_block(Old, false, visitBlock, this))
    return llvm::joinErrors(lastError(), std::move(Failure));
  if (Failure)
    return std::move(Failure);
  llvm::sort(Blocks, [](const Block &A, const Block &B) { return A.Old < B.Old; });
  if (llvm::Error E = each([&](Block &B) { return allocate(B); }))
    return E;
  if (llvm::Error E = each([&](Block &B) { return fill(B); }))
    return E;
  if (void *Root = nvm_pool_root(Old)) {
    llvm::Expected<uint64_t> Place = newPlace(reinterpret_cast<uint64_t>(Root), 0, "the root");
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
  llvm::Expected<OpenPool> New = OpenPool::create(Made, Size ? Size : Info.size, From);
  if (!New)
    return New.takeError();
  Converter C(Old->get(), New->get(), *Were, Program ? *Program : *Were, Map, Progress);
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
