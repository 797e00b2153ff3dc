// The counters of a process: see Watch.h.
#include "stat/Watch.h"

#include "support/Failed.h"

#include "nvmove/nvmove.h"

#include <climits>
#include <cstring>

namespace nvmove::stat {

using support::failed;

namespace {

constexpr uint64_t PartMax = 64 << 20; ///< bytes of a module's data that are looked through
constexpr unsigned LogsMax = 1 << 16;  ///< else the number is none
constexpr size_t MethodNameMax = 32;   ///< characters

uint64_t addressOf(const void *There) { return reinterpret_cast<uintptr_t>(There); }

/// Where the magic stands in the data of the program and its libraries.
std::optional<uint64_t> findMagic(const Process &Of) {
  std::vector<char> Bytes;
  for (const Mapping &M : mappingsOf(Of.id())) {
    uint64_t Size = M.End - M.Start;
    if (!M.Readable || M.Executable || !M.Inode || Size > PartMax)
      continue;
    Bytes.resize(Size);
    if (!Of.read(M.Start, Bytes.data(), Size))
      continue;
    for (uint64_t At = 0; At + sizeof(nvm_watch) <= Size; At += sizeof(uint64_t))
      if (memcmp(Bytes.data() + At, NVM_WATCH_MAGIC, sizeof NVM_WATCH_MAGIC) == 0)
        if (auto Its = Of.get<nvm_watch>(M.Start + At); Its && Its->size == sizeof *Its)
          return M.Start + At;
  }
  return std::nullopt;
}

const char *domainName(uint32_t Domain) {
  switch (Domain) {
  case NVM_DOMAIN_PROCESS:
    return "process";
  case NVM_DOMAIN_POWER:
    return "power";
  case NVM_DOMAIN_DISK:
    return "disk";
  }
  return "unknown";
}

constexpr Counter Counters[] = {
    {"commits", "transactions that stored something and committed", &nvm_stats::commits},
    {"implicit_commits", "of which: of stores outside a transaction", &nvm_stats::implicit_commits},
    {"joined_commits", "of which: became part of another's", &nvm_stats::joined_commits},
    {"aborts", "transactions that were undone", &nvm_stats::aborts},
    {"log_entries", "entries of the log", &nvm_stats::log_entries},
    {"log_bytes", "bytes of the log", &nvm_stats::log_bytes},
    {"flushed_lines", "cache lines that were written back", &nvm_stats::flushed_lines},
    {"fences", "waits until all that is durable", &nvm_stats::fences},
    {"allocations", "blocks that were allocated", &nvm_stats::allocations},
    {"frees", "blocks that were freed", &nvm_stats::frees}};

nvm_stats combined(nvm_stats A, const nvm_stats &B, uint64_t Sign) {
  for (const Counter &C : Counters)
    A.*C.Value += Sign * (B.*C.Value);
  A.notes += Sign * B.notes;
  return A;
}

} // namespace

llvm::ArrayRef<Counter> counters() { return Counters; }

llvm::Expected<Watch> Watch::find(Process Of) {
  std::optional<uint64_t> At = findMagic(Of);
  std::string Who = "process " + std::to_string(Of.id()) + " (" + Of.name() + ")";
  if (!At)
    return failed(Who + " does not use libnvmove, or another version of it than this nvmove");
  auto There = Of.get<nvm_watch>(*At);
  if (!There || There->stats_size != sizeof(nvm_stats) ||
      There->base_size != sizeof(nvm_watch_base))
    return failed(Who + " uses another version of libnvmove; take the nvmove of that version");
  return Watch(std::move(Of), *There);
}

uint64_t Watch::base(unsigned Number) const {
  return addressOf(There.bases) + Number * sizeof(nvm_watch_base);
}

std::optional<PoolCounts> Watch::pool(unsigned Number) const {
  uint64_t At = Of.get<uint64_t>(addressOf(There.pools) + Number * sizeof(uint64_t)).value_or(0);
  if (!At || Of.get<uint8_t>(At + There.forked).value_or(1))
    return std::nullopt;
  PoolCounts P;
  P.Number = Number;
  P.Path = Of.text(At + There.path, PATH_MAX);
  P.Generation = Of.get<uint64_t>(At + There.generation).value_or(0);
  P.Mapped = Of.get<uint64_t>(At + There.file).value_or(0);
  if (!P.Mapped)
    P.Mapped = Of.get<uint64_t>(At + There.home).value_or(0);
  P.Domain = domainName(Of.get<uint32_t>(At + There.domain).value_or(UINT32_MAX));
  if (auto Method = Of.get<uint64_t>(At + There.method); Method && *Method)
    if (auto Name = Of.get<uint64_t>(*Method + There.method_name))
      P.Method = Of.text(*Name, MethodNameMax);
  auto Logs = Of.get<unsigned>(At + There.log_count);
  if (!Logs || *Logs > LogsMax || P.Path.empty() || P.Method.empty())
    return std::nullopt; // it is being closed
  for (unsigned I = 0; I < *Logs; ++I)
    if (auto Log = Of.get<uint64_t>(At + There.logs + I * sizeof(uint64_t)); Log && *Log)
      if (auto One = Of.get<nvm_stats>(*Log + There.log_stats))
        P.Counted = combined(P.Counted, *One, 1);
  auto Base = Of.get<nvm_watch_base>(base(Number));
  P.IsReset = Base && Base->generation == P.Generation;
  if (P.IsReset)
    P.Counted = combined(P.Counted, Base->stats, UINT64_MAX);
  return P;
}

std::vector<PoolCounts> Watch::pools() const {
  std::vector<PoolCounts> All;
  for (unsigned Number = 0; Number < There.pool_count; ++Number)
    if (std::optional<PoolCounts> P = pool(Number))
      All.push_back(std::move(*P));
  return All;
}

bool Watch::reset(const PoolCounts &Pool) const {
  nvm_watch_base New{Pool.Generation, Pool.Counted};
  if (Pool.IsReset)
    if (auto Before = Of.get<nvm_watch_base>(base(Pool.Number)))
      New.stats = combined(New.stats, Before->stats, 1);
  return Of.write(base(Pool.Number), &New, sizeof New);
}

bool Watch::isWatched() const { return Of.get<uint8_t>(addressOf(There.watches)).value_or(0); }

bool Watch::setWatched(bool On) const {
  uint8_t Byte = On;
  return Of.write(addressOf(There.watches), &Byte, 1);
}

std::unique_ptr<nvm_watched> Watch::watched() const {
  auto Now = std::make_unique<nvm_watched>();
  return Of.read(addressOf(There.watched), Now.get(), sizeof *Now) ? std::move(Now) : nullptr;
}

bool Watch::resetWatched() const {
  auto Now = std::make_unique<nvm_watched>();
  return Of.write(addressOf(There.watched), Now.get(), sizeof *Now);
}

} // namespace nvmove::stat
