// Counting and checking: see Census.h.
#include "pool/Census.h"

#include "pool/Mistyped.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace nvmove::pool {

namespace {

bool count(void *Context, const nvm_block *Block) {
  auto &Counted = *static_cast<Census *>(Context);
  std::string Name = Block->type && *Block->type->name ? Block->type->name : "untyped";
  auto Add = [&](std::map<std::string, Tally> &To) {
    To[Name].Blocks++;
    To[Name].Bytes += Block->size;
  };
  Add(Counted.All);
  if (!Block->is_reachable)
    Add(Counted.Garbage);
  return true;
}

void rememberLine(void *Context, const char *Line) {
  static_cast<std::vector<std::string> *>(Context)->push_back(Line);
}

void rememberPointer(void *Context, const nvm_bad_pointer *Bad) {
  auto &Found = *static_cast<Findings *>(Context);
  if (Bad->in_garbage)
    Found.InGarbage++;
  else
    Found.Faults.push_back(Bad->line);
}

std::string hex(const uint8_t *Bytes, size_t Size) {
  return llvm::toHex(llvm::ArrayRef<uint8_t>(Bytes, Size), /*LowerCase=*/true);
}

llvm::json::Value rootOf(NVM_POOL *Pool) {
  auto *Root = static_cast<const char *>(nvm_pool_root(Pool));
  if (!Root)
    return nullptr;
  auto Offset = static_cast<uint64_t>(Root - static_cast<const char *>(nvm_pool_base(Pool)));
  return "@0x" + llvm::utohexstr(Offset, /*LowerCase=*/true);
}

} // namespace

llvm::Expected<Census> takeCensus(const OpenPool &Pool, bool Reach) {
  Census Counted;
  if (nvm_pool_each_block(Pool.get(), Reach, count, &Counted))
    return lastError();
  return Counted;
}

llvm::json::Array tallyToJson(const std::map<std::string, Tally> &Tallies) {
  llvm::json::Array Rows;
  for (const auto &[Name, T] : Tallies)
    Rows.push_back(llvm::json::Object{{"type", Name}, {"blocks", T.Blocks}, {"bytes", T.Bytes}});
  return Rows;
}

void printTally(llvm::raw_ostream &OS, const std::map<std::string, Tally> &Tallies) {
  for (const auto &[Name, T] : Tallies)
    OS << llvm::format("%12llu blocks %14llu bytes  ", static_cast<unsigned long long>(T.Blocks),
                       static_cast<unsigned long long>(T.Bytes))
       << Name << '\n';
}

llvm::Expected<llvm::json::Object> describe(const std::string &Path) {
  Hold AllLooks(Path);
  nvm_last_opening Last;
  if (nvm_pool_last_opening(Path.c_str(), &Last))
    return lastError();
  llvm::Expected<OpenPool> Looked = OpenPool::look(Path);
  if (!Looked)
    return Looked.takeError();
  const OpenPool &Pool = *Looked;
  nvm_info Info;
  nvm_account Account;
  nvm_usage Usage;
  if (nvm_pool_info(Pool.get(), &Info) || nvm_pool_account(Pool.get(), &Account) ||
      nvm_pool_usage(Pool.get(), &Usage))
    return lastError();
  std::map<std::string, Tally> Types;
  if (llvm::Expected<Census> Counted = takeCensus(Pool, /*Reach=*/false))
    Types = std::move(Counted->All);
  else
    return Counted.takeError();
  return llvm::json::Object{
      {"schema_version", 1},
      {"path", Path},
      {"id", hex(Account.id, sizeof Account.id)},
      {"program_build_id", llvm::StringRef(hex(Account.build_id, 32)).rtrim('0').str()},
      {"size", Info.size},
      {"size_max", Info.size_max},
      {"base", "0x" + llvm::utohexstr(Account.base, true)},
      {"method", Last.method},
      {"domain", Last.domain == NVM_DOMAIN_POWER  ? "power"
                 : Last.domain == NVM_DOMAIN_DISK ? "disk"
                                                  : "process"},
      {"delayed", Last.is_delayed},
      {"openings", Info.generation - 1}, // this look is none
      {"clean_shutdowns", Account.clean_shutdowns},
      {"unclean_shutdowns", Account.unclean_shutdowns},
      {"undone", Info.recovered_undone},
      {"replayed", Info.recovered_redone},
      {"unfinished_moves", Account.unfinished_moves},
      {"heap_bytes", Account.heap_bytes},
      {"allocated_blocks", Usage.blocks},
      {"allocated_bytes", Usage.bytes},
      {"root", rootOf(Pool.get())},
      {"logs", Account.logs},
      {"static_places", Account.statics},
      {"references", !Account.counts_references ? "not counted"
                     : Account.counts_stale     ? "to be counted anew"
                                                : "counted"},
      {"references_pending", Account.counts_recovered}, // transactions that an opening counts
      {"types", tallyToJson(Types)}};
}

void printDescription(llvm::raw_ostream &OS, const llvm::json::Object &D) {
  auto Number = [&](llvm::StringRef Key) { return D.getInteger(Key).value_or(0); };
  auto Text = [&](llvm::StringRef Key) { return D.getString(Key).value_or(""); };
  OS << Text("path") << '\n'
     << "  id            " << Text("id") << '\n'
     << "  size          " << Number("size") << " bytes, may grow to " << Number("size_max") << '\n'
     << "  base          " << Text("base");
  if (Number("unfinished_moves"))
    OS << " (a move to there is not finished; the next opening goes on)";
  OS << "\n  method        " << Text("method") << ", domain " << Text("domain")
     << (D.getBoolean("delayed").value_or(false) ? ", commits did not wait for the disk" : "")
     << " (last opening)\n"
     << "  openings      " << Number("openings") << ", closed " << Number("clean_shutdowns")
     << ", recovered " << Number("unclean_shutdowns") << '\n';
  if (Number("undone") || Number("replayed"))
    OS << "  recovery      the next opening undoes " << Number("undone") << " log entries, replays "
       << Number("replayed") << '\n';
  OS << "  allocated     " << Number("allocated_blocks") << " blocks, " << Number("allocated_bytes")
     << " of " << Number("heap_bytes") << " bytes\n"
     << "  root          " << D.getString("root").value_or("none") << '\n'
     << "  logs          " << Number("logs") << '\n'
     << "  static places " << Number("static_places") << "\n  references    " << Text("references");
  if (Number("references_pending"))
    OS << ", those of " << Number("references_pending") << " transactions by the next opening";
  OS << "\n  types\n";
  for (const llvm::json::Value &Row : *D.getArray("types")) {
    const llvm::json::Object &T = *Row.getAsObject();
    OS << llvm::format("%12lld blocks %14lld bytes  ", *T.getInteger("blocks"),
                       *T.getInteger("bytes"))
       << *T.getString("type") << '\n';
  }
}

llvm::Expected<Findings> checkPool(const std::string &Path, bool AsOpened) {
  Hold AllLooks(Path);
  Findings Found;
  std::vector<std::string> &Faults = Found.Faults;
  if (!AsOpened && nvm_pool_check(Path.c_str(), rememberLine, &Faults) < 0)
    return lastError();
  if (!Faults.empty())
    return Found; // pointers in a damaged heap say nothing
  llvm::Expected<OpenPool> Pool = OpenPool::look(Path);
  if (!Pool)
    return Pool.takeError();
  if (nvm_pool_verify(Pool->get(), rememberLine, &Faults) < 0 ||
      nvm_pool_each_bad_pointer(Pool->get(), rememberPointer, &Found) < 0)
    return lastError();
  if (!Faults.empty())
    return Found;
  Found.Hints = findMistyped(Pool->get());
  llvm::Expected<Census> Counted = takeCensus(*Pool, /*Reach=*/false);
  if (!Counted)
    return Counted.takeError();
  Found.Untyped = Counted->All["untyped"].Blocks;
  return Found;
}

} // namespace nvmove::pool
