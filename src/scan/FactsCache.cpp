// The cache of recorded facts: see FactsCache.h.
//
// An entry, little-endian, strings as u32 length and bytes:
//   8 bytes  magic "NVMCACH3"
//   u32      length of the manifest
//   u64      XXH3-64 of the manifest
//   manifest u32 count, then for each file: path, u64 size, i64 modified, i64 changed,
//            u8 whether size and times may be trusted, u64 hash low, u64 hash high;
//            u32 count of paths at which nothing was found, then these
//   rest     the facts image, which carries its own checksum
#include "scan/FactsCache.h"

#include "facts/FactsFile.h"
#include "support/Files.h"
#include "support/Process.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <ctime>
#include <set>
#include <sys/stat.h>
#include <xxhash.h>

namespace nvmove::scan {

namespace {

constexpr llvm::StringLiteral Magic = "NVMCACH2";
constexpr size_t HeaderBytes = 8 + 4 + 8;
/// Coarsest time stamps of a file system in use (FAT). Younger files are compared by content.
constexpr int64_t StampGranularityNs = 2'000'000'000;
constexpr uint64_t CacheBytesMax = uint64_t(2) << 30; // Some hundred trees the size of Redis.
constexpr std::chrono::hours CacheExpiration(30 * 24);
constexpr std::chrono::hours PruneInterval(1);
/// The prefix that llvm::pruneCache() takes for a cache entry.
constexpr llvm::StringLiteral EntryPrefix = "llvmcache-";
/// Variables that change what Clang reads.
constexpr const char *Environment[] = {"CPATH", "C_INCLUDE_PATH", "COMPILER_PATH",
                                       "SOURCE_DATE_EPOCH"};

int64_t nanoseconds(const struct timespec &Time) {
  return static_cast<int64_t>(Time.tv_sec) * 1'000'000'000 + Time.tv_nsec;
}

int64_t nowNs() {
  struct timespec Now;
  // File systems stamp with the coarse clock, which lags behind the fine one.
  clock_gettime(CLOCK_REALTIME_COARSE, &Now);
  return nanoseconds(Now);
}

std::optional<FileStamp> stampOf(const std::string &Path) {
  struct stat Status;
  if (::stat(Path.c_str(), &Status) || !S_ISREG(Status.st_mode))
    return std::nullopt;
  return FileStamp{static_cast<uint64_t>(Status.st_size), nanoseconds(Status.st_mtim),
                   nanoseconds(Status.st_ctim)};
}

void putString(llvm::support::endian::Writer &Out, llvm::StringRef Text) {
  Out.write<uint32_t>(static_cast<uint32_t>(Text.size()));
  Out.OS << Text;
}

/// The manifest's bytes within an entry, if header and checksum are right.
std::optional<llvm::StringRef> manifestOf(llvm::StringRef Entry) {
  if (Entry.size() < HeaderBytes || !Entry.starts_with(Magic))
    return std::nullopt;
  using namespace llvm::support;
  uint32_t Length = endian::read32le(Entry.data() + 8);
  uint64_t Sum = endian::read64le(Entry.data() + 12);
  llvm::StringRef Rest = Entry.drop_front(HeaderBytes);
  if (Length > Rest.size() || XXH3_64bits(Rest.data(), Length) != Sum)
    return std::nullopt;
  return Rest.take_front(Length);
}

} // namespace

std::optional<FileStamp> FileHashes::stamp(const std::string &Path) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Known &File = Files[Path];
  if (!File.Stamped) {
    File.Stamped = true;
    File.Stamp = stampOf(Path);
  }
  return File.Stamp;
}

std::optional<ContentHash> FileHashes::hash(const std::string &Path) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Known &File = Files[Path];
    if (File.Hashed)
      return File.Hash;
  }
  // Two threads may both read the file; that is rarer than it is cheap.
  std::optional<ContentHash> Hash;
  if (auto Text = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false)) {
    XXH128_hash_t Sum = XXH3_128bits((*Text)->getBufferStart(), (*Text)->getBufferSize());
    Hash = ContentHash{Sum.low64, Sum.high64};
  }
  std::lock_guard<std::mutex> Lock(Mutex);
  Known &File = Files[Path];
  File.Hashed = true;
  File.Hash = Hash;
  return Hash;
}

bool FileHashes::isThere(const std::string &Path) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto [It, New] = There.try_emplace(Path, false);
  struct stat Status;
  if (New)
    It->second = !::stat(Path.c_str(), &Status);
  return It->second;
}

FactsCache::FactsCache(std::string Folder, std::function<void(const std::string &)> Warn)
    : Folder(std::move(Folder)), Warn(std::move(Warn)), StartedNs(nowNs()) {
  llvm::raw_string_ostream Out(Salt);
  Out << facts::FormatVersion << '\0' << LLVM_VERSION_STRING << '\0'
      << support::executableIdentity() << '\0';
  for (const char *Name : Environment) {
    const char *Value = std::getenv(Name);
    Out << (Value ? Value : "") << '\0';
  }
}

std::string FactsCache::entryPath(const CompileCommand &Command) const {
  std::string Key = Salt;
  for (const std::string *Part : {&Command.Directory, &Command.File, &Command.Output}) {
    Key += *Part;
    Key += '\0';
  }
  for (const std::string &Argument : Command.Arguments) {
    Key += Argument;
    Key += '\0';
  }
  XXH128_hash_t Sum = XXH3_128bits(Key.data(), Key.size());
  return Folder + "/" + EntryPrefix.str() + llvm::utohexstr(Sum.high64, true, 16) +
         llvm::utohexstr(Sum.low64, true, 16);
}

bool FactsCache::stillHolds(llvm::StringRef Manifest, std::vector<std::string> &Inputs) {
  llvm::DataExtractor In(Manifest, /*IsLittleEndian=*/true, /*AddressSize=*/8);
  llvm::DataExtractor::Cursor At(0);
  uint32_t Count = In.getU32(At);
  for (uint32_t I = 0; I < Count && At; ++I) {
    std::string Path = In.getBytes(At, In.getU32(At)).str();
    FileStamp Stored;
    Stored.Size = In.getU64(At);
    Stored.ModifiedNs = static_cast<int64_t>(In.getU64(At));
    Stored.ChangedNs = static_cast<int64_t>(In.getU64(At));
    bool Trusted = In.getU8(At);
    ContentHash Content;
    Content.Low = In.getU64(At);
    Content.High = In.getU64(At);
    if (!At)
      break;
    std::optional<FileStamp> Now = Hashes.stamp(Path);
    if (!Now || Now->Size != Stored.Size)
      return false;
    if (Trusted && *Now == Stored) {
      Inputs.push_back(std::move(Path));
      continue;
    }
    std::optional<ContentHash> Hash = Hashes.hash(Path);
    if (!Hash || !(*Hash == Content))
      return false;
    Inputs.push_back(std::move(Path));
  }
  uint32_t Absent = In.getU32(At);
  bool Appeared = false;
  for (uint32_t I = 0; I < Absent && At && !Appeared; ++I) {
    std::string Path = In.getBytes(At, In.getU32(At)).str();
    Appeared = At && Hashes.isThere(Path);
  }
  uint32_t Present = In.getU32(At);
  bool Gone = false;
  for (uint32_t I = 0; I < Present && At && !Gone; ++I) {
    Inputs.push_back(In.getBytes(At, In.getU32(At)).str());
    Gone = At && !Hashes.isThere(Inputs.back());
  }
  return !llvm::errorToBool(At.takeError()) && Count != 0 && !Appeared && !Gone;
}

std::optional<Remembered> FactsCache::lookup(const CompileCommand &Command) {
  std::string Path = entryPath(Command);
  auto Entry = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!Entry)
    return std::nullopt;
  std::optional<llvm::StringRef> Manifest = manifestOf((*Entry)->getBuffer());
  Remembered Answer;
  if (!Manifest || !stillHolds(*Manifest, Answer.Inputs))
    return std::nullopt;
  llvm::StringRef Image = (*Entry)->getBuffer().drop_front(HeaderBytes + Manifest->size());
  llvm::Expected<facts::TranslationUnit> Unit = facts::deserialise(Image, Path);
  if (!Unit) {
    // Damaged on disk: recorded anew, and replaced by that.
    llvm::consumeError(Unit.takeError());
    return std::nullopt;
  }
  Answer.Unit = std::move(*Unit);
  return Answer;
}

/// Of paths in a folder that is missing, the folder says all. False when something is there by now.
bool FactsCache::putAbsent(llvm::support::endian::Writer &Out,
                           const std::vector<std::string> &Absent) {
  std::set<std::string> Shortest;
  for (const std::string &Path : Absent) {
    if (Hashes.isThere(Path))
      return false;
    llvm::StringRef Missing = Path;
    for (llvm::StringRef Folder = Missing;
         !(Folder = llvm::sys::path::parent_path(Folder)).empty();)
      if (Hashes.isThere(Folder.str()))
        break;
      else
        Missing = Folder;
    Shortest.insert(Missing.str());
  }
  Out.write<uint32_t>(static_cast<uint32_t>(Shortest.size()));
  for (const std::string &Path : Shortest)
    putString(Out, Path);
  return true;
}

std::string FactsCache::makeManifest(const Recording &R) {
  std::string Manifest;
  llvm::raw_string_ostream Text(Manifest);
  llvm::support::endian::Writer Out(Text, llvm::endianness::little);
  Out.write<uint32_t>(static_cast<uint32_t>(R.Inputs.size()));
  for (const std::string &Path : R.Inputs) {
    // A stamp of now, not a remembered one: only it can tell that the file stayed as it was.
    std::optional<FileStamp> Stamp = stampOf(Path);
    std::optional<ContentHash> Hash = Hashes.hash(Path);
    if (!Stamp || !Hash)
      return "";
    int64_t Newest = std::max(Stamp->ModifiedNs, Stamp->ChangedNs);
    if (Newest >= StartedNs)
      return ""; // Changed during this run: which version was recorded is anybody's guess.
    putString(Out, Path);
    Out.write<uint64_t>(Stamp->Size);
    Out.write<int64_t>(Stamp->ModifiedNs);
    Out.write<int64_t>(Stamp->ChangedNs);
    Out.write<uint8_t>(Newest + StampGranularityNs < StartedNs);
    Out.write<uint64_t>(Hash->Low);
    Out.write<uint64_t>(Hash->High);
  }
  if (!putAbsent(Out, R.Absent))
    return "";
  Out.write<uint32_t>(static_cast<uint32_t>(R.Present.size()));
  for (const std::string &Path : R.Present)
    putString(Out, Path);
  return Manifest;
}

void FactsCache::store(const CompileCommand &Command, const Recording &R) {
  {
    std::lock_guard<std::mutex> Lock(WarnMutex);
    if (!Writable)
      return;
  }
  std::string Manifest = makeManifest(R);
  if (Manifest.empty())
    return;
  if (std::error_code Failed = llvm::sys::fs::create_directories(Folder)) {
    warnOnce(Folder + ": " + Failed.message());
    return;
  }
  llvm::Error Failed = support::writeFile(entryPath(Command), [&](llvm::raw_ostream &OS) {
    llvm::support::endian::Writer Header(OS, llvm::endianness::little);
    OS << Magic;
    Header.write<uint32_t>(static_cast<uint32_t>(Manifest.size()));
    Header.write<uint64_t>(XXH3_64bits(Manifest.data(), Manifest.size()));
    OS << Manifest << facts::serialise(R.Unit);
  });
  if (Failed)
    warnOnce(toString(std::move(Failed)));
}

void FactsCache::prune() {
  llvm::CachePruningPolicy Policy;
  Policy.Interval = PruneInterval;
  Policy.Expiration = CacheExpiration;
  Policy.MaxSizeBytes = CacheBytesMax;
  Policy.MaxSizePercentageOfAvailableSpace = 0;
  llvm::pruneCache(Folder, Policy);
}

void FactsCache::warnOnce(const std::string &Why) {
  std::lock_guard<std::mutex> Lock(WarnMutex);
  if (Writable && Warn)
    Warn(Why);
  Writable = false;
}

} // namespace nvmove::scan
