// Reading layouts: see Layouts.h.
//
// A program's are in its section nvm_types: addresses of struct nvm_type (nvmove/abi.h). The
// program's image is put together from its segments and the relocations that the loader would
// apply; every address that is followed is checked against it.
#include "pool/Layouts.h"

#include "nvmove/convert.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

namespace nvmove::pool {

using Elf = llvm::object::ELF64LE;

struct Layouts::Storage {
  std::deque<std::string> Texts;
  std::deque<std::vector<nvm_field>> Fields;
  std::deque<std::vector<int64_t>> Values;
  std::deque<nvm_when> Whens;
  std::deque<nvm_type> Types;
};

namespace {

constexpr uint64_t ImageMax = UINT64_C(4) << 30; ///< more is no program but nonsense

llvm::Error unusable(const std::string &Path, const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Path + ": " + What);
}

/// What lies where when the program is loaded at its lowest address.
class Image {
public:
  llvm::Error load(const llvm::object::ELFFile<Elf> &File) {
    auto Headers = File.program_headers();
    if (!Headers)
      return Headers.takeError();
    uint64_t End = 0;
    for (const Elf::Phdr &Part : *Headers)
      if (Part.p_type == llvm::ELF::PT_LOAD) {
        First = std::min<uint64_t>(First, Part.p_vaddr);
        End = std::max<uint64_t>(End, Part.p_vaddr + Part.p_memsz);
      }
    if (End <= First || End - First > ImageMax)
      return llvm::createStringError("no segments that make sense");
    Bytes.resize(End - First);
    for (const Elf::Phdr &Part : *Headers) {
      if (Part.p_type != llvm::ELF::PT_LOAD)
        continue;
      auto Data = File.getSegmentContents(Part);
      if (!Data)
        return Data.takeError();
      if (Data->size() > Part.p_memsz)
        return llvm::createStringError("a segment that is longer than its memory");
      memcpy(Bytes.data() + (Part.p_vaddr - First), Data->data(), Data->size());
    }
    return relocate(File);
  }

  template <typename T> bool get(uint64_t Address, T &Value) const {
    if (Address < First || Address - First > Bytes.size() ||
        Bytes.size() - (Address - First) < sizeof Value)
      return false;
    memcpy(&Value, Bytes.data() + (Address - First), sizeof Value);
    return true;
  }

  bool getText(const void *At, std::string &Text) const {
    uint64_t From = reinterpret_cast<uint64_t>(At) - First;
    const void *End =
        From < Bytes.size() ? memchr(Bytes.data() + From, 0, Bytes.size() - From) : nullptr;
    if (End)
      Text.assign(Bytes.data() + From, static_cast<const char *>(End));
    return End;
  }

private:
  /// Those that need no other module; addends of packed relative ones are in place.
  llvm::Error relocate(const llvm::object::ELFFile<Elf> &File) {
    auto Sections = File.sections();
    if (!Sections)
      return Sections.takeError();
    for (const Elf::Shdr &Section : *Sections) {
      if (Section.sh_type != llvm::ELF::SHT_RELA || !(Section.sh_flags & llvm::ELF::SHF_ALLOC))
        continue;
      auto Entries = File.relas(Section);
      if (!Entries)
        return Entries.takeError();
      for (const Elf::Rela &Entry : *Entries)
        if (uint64_t At = Entry.r_offset - First;
            Entry.getType(false) == llvm::ELF::R_X86_64_RELATIVE && At + 8 <= Bytes.size()) {
          uint64_t Value = static_cast<uint64_t>(Entry.r_addend);
          memcpy(Bytes.data() + At, &Value, sizeof Value);
        }
    }
    return llvm::Error::success();
  }

  uint64_t First = UINT64_MAX;
  std::vector<char> Bytes;
};

bool rememberType(void *Context, const nvm_type *Type) {
  static_cast<std::vector<const nvm_type *> *>(Context)->push_back(Type);
  return true;
}

bool rememberUse(void *Context, const nvm_block *Block) {
  if (Block->type)
    static_cast<llvm::DenseSet<const nvm_type *> *>(Context)->insert(Block->type);
  return true;
}

} // namespace

void Layouts::add(const nvm_type *Type) {
  if (!Type->size || !*Type->name)
    return;
  if (ById.try_emplace(Type->id, Type).second)
    ByName[Type->name].push_back(Type);
}

/// Of types with the same name, one without blocks may be what the program had before.
llvm::Error Layouts::forgetFormer(NVM_POOL *Pool) {
  if (llvm::all_of(ByName, [](const auto &Named) { return Named.second.size() == 1; }))
    return llvm::Error::success();
  llvm::DenseSet<const nvm_type *> Used;
  if (nvm_pool_each_block(Pool, false, rememberUse, &Used))
    return lastError();
  for (auto &Named : ByName) {
    std::vector<const nvm_type *> &Types = Named.second, InUse;
    llvm::copy_if(Types, std::back_inserter(InUse),
                  [&](const nvm_type *T) { return Used.contains(T); });
    if (InUse.empty())
      InUse.push_back(Types.back());
    Types = std::move(InUse);
  }
  return llvm::Error::success();
}

llvm::Expected<Layouts> Layouts::of(NVM_POOL *Pool) {
  std::vector<const nvm_type *> Types;
  if (nvm_pool_each_type(Pool, rememberType, &Types))
    return lastError();
  Layouts Made;
  for (const nvm_type *Type : Types)
    Made.add(Type);
  if (llvm::Error E = Made.forgetFormer(Pool))
    return std::move(E);
  return Made;
}

namespace {

/// Follows the addresses in one layout; false: they make no sense.
template <typename Storage> bool readField(const Image &Program, Storage &Kept, nvm_field &Field) {
  if (!Program.getText(Field.name, Kept.Texts.emplace_back()))
    return false;
  Field.name = Kept.Texts.back().c_str();
  if (!Field.when)
    return true;
  nvm_when When;
  if (!Program.get(reinterpret_cast<uint64_t>(Field.when), When))
    return false;
  std::vector<int64_t> &Values = Kept.Values.emplace_back();
  for (uint32_t I = 0; I < When.count; ++I)
    if (!Program.get(reinterpret_cast<uint64_t>(When.values) + I * sizeof(int64_t),
                     Values.emplace_back()))
      return false;
  When.values = Values.data();
  Field.when = &Kept.Whens.emplace_back(When);
  return true;
}

template <typename Storage> bool readType(const Image &Program, Storage &Kept, uint64_t Address) {
  nvm_type Type;
  if (!Program.get(Address, Type) || !Program.getText(Type.name, Kept.Texts.emplace_back()))
    return false;
  Type.name = Kept.Texts.back().c_str();
  if (!Program.getText(Type.members, Kept.Texts.emplace_back()))
    return false;
  Type.members = Kept.Texts.back().c_str();
  std::vector<nvm_field> &Fields = Kept.Fields.emplace_back();
  for (uint32_t I = 0; I < Type.field_count; ++I)
    if (!Program.get(reinterpret_cast<uint64_t>(Type.fields) + I * sizeof(nvm_field),
                     Fields.emplace_back()) ||
        !readField(Program, Kept, Fields.back()))
      return false;
  Type.fields = Fields.data();
  Kept.Types.push_back(Type);
  return true;
}

} // namespace

llvm::Expected<Layouts> Layouts::read(const std::string &Path) {
  if (llvm::sys::fs::exists(Path) && !llvm::sys::fs::is_regular_file(Path))
    return unusable(Path, "not a regular file");
  auto Buffer = llvm::MemoryBuffer::getFile(Path, false, /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return unusable(Path, Buffer.getError().message());
  llvm::StringRef Bytes = (*Buffer)->getBuffer();
  uint64_t Magic = 0;
  memcpy(&Magic, Bytes.data(), std::min(sizeof Magic, Bytes.size()));
  if (Magic == NVM_POOL_MAGIC) {
    llvm::Expected<OpenPool> Pool = OpenPool::look(Path);
    if (!Pool)
      return Pool.takeError();
    llvm::Expected<Layouts> Made = of(Pool->get());
    if (Made)
      Made->Source = std::make_shared<OpenPool>(std::move(*Pool));
    return Made;
  }
  auto File = llvm::object::ELFFile<Elf>::create(Bytes);
  if (!File || File->getHeader().e_machine != llvm::ELF::EM_X86_64 ||
      File->getHeader().e_type == llvm::ELF::ET_REL) {
    llvm::consumeError(File.takeError());
    return unusable(Path, "neither a pool nor a linked program for this processor");
  }
  Image Program;
  if (llvm::Error E = Program.load(*File))
    return unusable(Path, llvm::toString(std::move(E)));
  auto Sections = File->sections();
  if (!Sections)
    return unusable(Path, llvm::toString(Sections.takeError()));
  Layouts Made;
  Made.FromProgram = std::make_shared<Storage>();
  for (const Elf::Shdr &Section : *Sections) {
    auto Name = File->getSectionName(Section);
    if (!Name) {
      llvm::consumeError(Name.takeError());
      continue;
    }
    if (*Name != NVM_TYPES_SECTION)
      continue;
    for (uint64_t At = 0, Address; At + 8 <= Section.sh_size; At += 8)
      if (!Program.get(Section.sh_addr + At, Address) ||
          (Address && !readType(Program, *Made.FromProgram, Address)))
        return unusable(Path, "its layouts make no sense; was it linked by this nvmove-cc?");
  }
  for (const nvm_type &Type : Made.FromProgram->Types)
    Made.add(&Type);
  if (Made.ByName.empty())
    return unusable(Path, "it describes no types; was it linked by nvmove-cc? If so, it needs no "
                          "'--layouts': 'undecided' in the map decides for blocks without type");
  return Made;
}

} // namespace nvmove::pool
