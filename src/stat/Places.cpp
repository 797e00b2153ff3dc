// Lines of the source: see Places.h.
#include "stat/Places.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace nvmove::stat {

namespace {

/// The address that a module's debug information has for \p Code: that of the part of the file that is mapped there.
uint64_t inModule(const Mapping &M, uint64_t Code) {
  uint64_t Offset = Code - M.Start + M.Offset;
  auto File =
      llvm::MemoryBuffer::getFile(M.Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!File)
    return Offset;
  auto Elf = llvm::object::ELF64LEFile::create((*File)->getBuffer());
  auto Parts = Elf ? Elf->program_headers() : Elf.takeError();
  if (!Parts) {
    llvm::consumeError(Parts.takeError());
    return Offset;
  }
  for (const auto &Part : *Parts)
    if (Part.p_type == llvm::ELF::PT_LOAD && Offset >= Part.p_offset &&
        Offset < Part.p_offset + Part.p_filesz)
      return Offset - Part.p_offset + Part.p_vaddr;
  return Offset;
}

const Mapping *mappingOf(const std::vector<Mapping> &Mapped, uint64_t Code) {
  for (const Mapping &M : Mapped)
    if (Code >= M.Start && Code < M.End)
      return &M;
  return nullptr;
}

void name(StoringLine &L, const llvm::DILineInfo &Info) {
  if (Info.FunctionName != llvm::DILineInfo::BadString)
    L.Function = Info.FunctionName;
  if (!Info.Line || Info.FileName == llvm::DILineInfo::BadString)
    return;
  L.File = Info.FileName;
  L.Line = Info.Line;
}

std::string hex(uint64_t Number) { return "0x" + llvm::utohexstr(Number, /*LowerCase=*/true); }

} // namespace

std::vector<StoringLine> linesOf(const nvm_watched &Seen, const std::vector<Mapping> &Mapped) {
  llvm::symbolize::LLVMSymbolizer::Options Options;
  Options.Demangle = true;
  llvm::symbolize::LLVMSymbolizer Symbols(Options);
  std::map<std::tuple<std::string, unsigned, std::string, std::string>, StoringLine> Sums;
  for (const nvm_watched_site &Site : Seen.sites) {
    if (!Site.stores)
      continue;
    uint64_t Code = Site.code - 1; // what is returned to is behind the call
    StoringLine L;
    if (const Mapping *M = mappingOf(Mapped, Code)) {
      L.Module = M->Path;
      uint64_t Address = inModule(*M, Code);
      L.Function = hex(Address);
      auto Found = Symbols.symbolizeInlinedCode(M->Path, {Address});
      if (!Found)
        llvm::consumeError(Found.takeError());
      else if (Found->getNumberOfFrames())
        name(L, Found->getFrame(0));
    } else {
      L.Function = hex(Site.code);
    }
    StoringLine &Sum = Sums.try_emplace({L.File, L.Line, L.Function, L.Module}, L).first->second;
    Sum.Stores += Site.stores;
    Sum.Bytes += Site.bytes;
  }
  std::vector<StoringLine> Lines;
  for (auto &[Key, Line] : Sums)
    Lines.push_back(std::move(Line));
  std::stable_sort(Lines.begin(), Lines.end(),
                   [](const StoringLine &A, const StoringLine &B) { return A.Stores > B.Stores; });
  return Lines;
}

} // namespace nvmove::stat
