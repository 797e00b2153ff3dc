// Versions of lines: see Media.h.
#include "crash/Media.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/xxhash.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

/// Of one line, between two guarantees; what came in the middle of more is not told apart. In raw
/// traces a copy of a line makes fifteen.
constexpr size_t VersionsMax = 24, RawVersionsMax = 48;

llvm::Error noImage(const char *What) {
  return llvm::createStringError(std::error_code(errno, std::generic_category()),
                                 "cannot make the image of a pool: %s", What);
}

} // namespace

llvm::Expected<std::unique_ptr<Media>> Media::make(uint64_t Size) {
  std::unique_ptr<Media> M(new Media);
  M->Size = Size;
  M->Fd = memfd_create("nvmove-crash", MFD_CLOEXEC);
  if (M->Fd < 0 || ftruncate(M->Fd, static_cast<off_t>(M->Size)))
    return noImage("memfd");
  void *Map = mmap(nullptr, M->Size, PROT_READ | PROT_WRITE, MAP_SHARED, M->Fd, 0);
  if (Map == MAP_FAILED)
    return noImage("mmap");
  M->Map = static_cast<char *>(Map);
  return std::move(M);
}

/// Pages of zeros stay holes.
llvm::Expected<std::unique_ptr<Media>> Media::make(const Trace &T, bool InOrder) {
  constexpr size_t Block = 1 << 16;
  static const char Zero[Block] = {};
  llvm::StringRef Image = T.Image->getBuffer();
  auto M = make(std::max<uint64_t>(T.SizeMax, LineSize)); // of an empty file nothing is mapped
  if (!M)
    return M.takeError();
  (*M)->InOrder = InOrder;
  (*M)->Raw = T.Raw;
  for (size_t At = 0; At < Image.size(); At += Block) {
    size_t Length = std::min(Block, Image.size() - At);
    if (std::memcmp(Image.data() + At, Zero, Length) != 0)
      std::memcpy((*M)->Map + At, Image.data() + At, Length);
  }
  return std::move(*M);
}

llvm::Expected<std::unique_ptr<Media>> Media::copy() const {
  auto M = make(Size);
  if (!M)
    return M.takeError();
  copyTo((*M)->Fd, (*M)->Map);
  return std::move(*M);
}

/// What either has is compared, page by page; what neither has is not read, for that would make it.
void Media::copyTo(int ToFd, char *To) const {
  constexpr uint64_t Page = 4096;
  for (int Has : {ToFd, Fd}) {
    for (off_t At = 0; (At = lseek(Has, At, SEEK_DATA)) >= 0;) {
      off_t End = lseek(Has, At, SEEK_HOLE);
      for (; At < End; At += Page) {
        uint64_t Length = std::min(Page, Size - static_cast<uint64_t>(At));
        if (std::memcmp(To + At, Map + At, Length) != 0)
          std::memcpy(To + At, Map + At, Length);
      }
    }
  }
}

void Media::copyTo(Media &To, uint64_t Length) const {
  if (ftruncate(To.Fd, static_cast<off_t>(Size)))
    llvm::report_fatal_error("the copy of a file cannot be made long again");
  copyTo(To.Fd, To.Map);
  if (ftruncate(To.Fd, static_cast<off_t>(Length)))
    llvm::report_fatal_error("the copy of a file cannot be made short");
}

bool losesNothing(const Choices &All) {
  return llvm::all_of(
      All, [](const Choice &One) { return One.Version + 1 == One.Dirty->Versions.size(); });
}

Choices Media::choices() const {
  Choices All;
  for (const auto &[Line, D] : Dirty)
    if (D.Versions.size() > 1)
      All.push_back({Line, &D, 0});
  return All;
}

uint64_t Media::hashOf(const Choices &All) const {
  uint64_t Sum = Hash;
  for (const Choice &C : All) {
    if (!C.Version)
      continue;
    Sum -= lineHash(C.Line, Map + C.Line * LineSize);
    Sum += lineHash(C.Line, C.Dirty->Versions[C.Version].Bytes.data());
  }
  return Sum;
}

void Media::patch(const Choices &All, bool Back) {
  for (const Choice &C : All)
    if (C.Version)
      std::memcpy(Map + C.Line * LineSize, C.Dirty->Versions[Back ? 0 : C.Version].Bytes.data(),
                  LineSize);
}

/// By somebody else, while the pool was closed: for good.
void Media::change(uint64_t Place, llvm::StringRef Bytes) {
  for (uint64_t I = 0; I + LineSize <= Bytes.size(); I += LineSize) {
    uint64_t Line = (Place + I) / LineSize;
    Dirty.erase(Line);
    Hash -= lineHash(Line, Map + Line * LineSize);
    std::memcpy(Map + Line * LineSize, Bytes.data() + I, LineSize);
    Hash += lineHash(Line, Map + Line * LineSize);
  }
}

Media::~Media() {
  if (Map)
    munmap(Map, Size);
  if (Fd >= 0)
    close(Fd);
}

std::string Media::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(Fd);
}

uint64_t Media::lineHash(uint64_t Line, const char *Bytes) {
  char Key[LineSize + sizeof Line];
  std::memcpy(Key, &Line, sizeof Line);
  std::memcpy(Key + sizeof Line, Bytes, LineSize);
  return llvm::xxh3_64bits(llvm::StringRef(Key, sizeof Key));
}

DirtyLine &Media::lineAt(uint64_t Line) {
  DirtyLine &D = Dirty[Line];
  if (D.Versions.empty()) {
    Version Guaranteed{{}, 0, 0};
    std::memcpy(Guaranteed.Bytes.data(), Map + Line * LineSize, LineSize);
    D.Versions.push_back(Guaranteed);
  }
  return D;
}

void Media::push(uint64_t Line, const std::array<char, LineSize> &Bytes, size_t Event) {
  DirtyLine &D = lineAt(Line);
  if (D.Versions.back().Bytes == Bytes)
    return;
  size_t Most = Raw ? RawVersionsMax : VersionsMax;
  if (D.Versions.size() == Most && D.Pending.empty()) {
    D.Versions.erase(D.Versions.begin() + static_cast<ptrdiff_t>(Most / 2));
    Forgot = true;
  }
  D.Versions.push_back({Bytes, Event, ++Moments});
}

/// By words of eight aligned bytes, upwards.
bool Media::store(uint64_t Place, llvm::StringRef Bytes, size_t Event) {
  bool Changed = false;
  for (size_t I = 0; I < Bytes.size();) {
    uint64_t At = Place + I, Line = At / LineSize;
    size_t Length = std::min<size_t>(8 - At % 8, Bytes.size() - I);
    std::array<char, LineSize> Next = lineAt(Line).Versions.back().Bytes;
    std::memcpy(Next.data() + At % LineSize, Bytes.data() + I, Length);
    size_t Before = lineAt(Line).Versions.size();
    push(Line, Next, Event);
    Changed |= lineAt(Line).Versions.size() != Before;
    I += Length;
  }
  return Changed;
}

/// Past the cache: each half may arrive alone, in whichever order they were stored. Frames of the log
/// go through the cache on some processors (append_clwb), and arrive upwards, in parts of eight
/// bytes: half a line stands for those, too, as a frame that is torn in whatever way is not there
/// (docs/internals/crash-consistency.md, I2), and no two share a line.
void Media::stream(uint64_t Line, llvm::StringRef Bytes, size_t Event) {
  if (InOrder) {
    storeWords(Line, Bytes, UINT64_MAX, Event);
    return;
  }
  constexpr size_t Half = LineSize / 2;
  const std::array<char, LineSize> Old = lineAt(Line).Versions.back().Bytes;
  for (size_t From : {Half, size_t(0)}) {
    std::array<char, LineSize> Next = Old;
    std::memcpy(Next.data() + From, Bytes.data() + From, Half);
    push(Line, Next, Event);
  }
  std::array<char, LineSize> Whole;
  std::memcpy(Whole.data(), Bytes.data(), LineSize);
  push(Line, Whole, Event);
}

/// What lies behind the end is zero should the file grow again; a crash that loses that is not
/// looked at.
void Media::cut(uint64_t Length, uint64_t Before) {
  for (auto At = Dirty.lower_bound(Length / LineSize);
       At != Dirty.end() && At->first * LineSize < Before;) {
    uint64_t Place = At->first * LineSize;
    size_t From = Place < Length ? Length - Place : 0;
    for (Version &V : At->second.Versions)
      std::memset(V.Bytes.data() + From, 0, LineSize - From);
    At->second.Streamed.Words.clear();
    At = From ? std::next(At) : Dirty.erase(At);
  }
  for (off_t At = static_cast<off_t>(Length); static_cast<uint64_t>(At) < Before;) {
    At = lseek(Fd, At, SEEK_DATA);
    off_t End = At < 0 ? 0 : lseek(Fd, At, SEEK_HOLE);
    if (End <= 0)
      break;
    zero(static_cast<uint64_t>(At), std::min(static_cast<uint64_t>(End), Before));
    At = End;
  }
}

void Media::zero(uint64_t From, uint64_t To) {
  for (uint64_t At = From; At < To;) {
    uint64_t Line = At / LineSize, Length = std::min(LineSize - At % LineSize, To - At);
    Hash -= lineHash(Line, Map + Line * LineSize);
    std::memset(Map + At, 0, Length);
    Hash += lineHash(Line, Map + Line * LineSize);
    At += Length;
  }
}

/// What was stored there is there for good.
void Media::synchronise(uint64_t Place, uint64_t Bytes) {
  auto At = Dirty.lower_bound(Place / LineSize);
  while (Bytes && At != Dirty.end() && At->first <= (Place + Bytes - 1) / LineSize) {
    arrive(At->first, At->second, At->second.Versions.size() - 1);
    At = Dirty.erase(At);
  }
}

/// Through the cache, upwards: what \p Mask has of a word arrives at once.
void Media::storeWords(uint64_t Line, llvm::StringRef Bytes, uint64_t Mask, size_t Event) {
  for (size_t Word = 0; Word < LineSize; Word += 8) {
    std::array<char, LineSize> Next = lineAt(Line).Versions.back().Bytes;
    for (size_t I = Word; I < Word + 8; ++I)
      if (Mask >> I & 1)
        Next[I] = Bytes[I];
    push(Line, Next, Event);
  }
}

bool Media::apply(size_t Index, const Event &E, bool Apart) {
  switch (E.Kind) {
  case NVM_TRACE_STORE:
  case NVM_TRACE_UNSEEN:
  case NVM_TRACE_VOLATILE:
    return !Apart && storeCopy(E.Place, E.Bytes, Index);
  case NVM_TRACE_STREAM:
    streamWords(E, Index);
    return true;
  case NVM_TRACE_SYNC:
    synchronise(E.Place, bytesOfSync(E));
    return true;
  case NVM_TRACE_LINE:
    if (E.Bytes.size() < LineSize)
      return false;
    if (E.Extra == UINT64_MAX)
      stream(E.Place / LineSize, E.Bytes.take_front(LineSize), Index);
    else
      storeWords(E.Place / LineSize, E.Bytes, E.Extra, Index);
    await(E.Place / LineSize, E.Thread);
    return true;
  case NVM_TRACE_FLUSH: {
    bool Changed = store(E.Place, E.Bytes, Index);
    for (uint64_t I = 0; I < E.Bytes.size(); I += LineSize) {
      await((E.Place + I) / LineSize, E.Thread);
    }
    return Changed;
  }
  case NVM_TRACE_CHANGED:
    change(E.Place, E.Bytes);
    return true;
  default:
    return false;
  }
}

void Media::storeFlat(const Event &E, bool Apart) {
  switch (E.Kind) {
  case NVM_TRACE_STORE:
  case NVM_TRACE_UNSEEN:
  case NVM_TRACE_VOLATILE:
    if (Apart)
      return;
    [[fallthrough]];
  case NVM_TRACE_STREAM:
  case NVM_TRACE_FLUSH:
  case NVM_TRACE_CHANGED:
    std::memcpy(Map + E.Place, E.Bytes.data(), E.Bytes.size());
    return;
  case NVM_TRACE_LINE:
    for (size_t I = 0; I < std::min<size_t>(E.Bytes.size(), LineSize); ++I)
      if (E.Extra >> I & 1)
        Map[E.Place + I] = E.Bytes[I];
    return;
  default:
    return;
  }
}

void Media::arrive(uint64_t Line, DirtyLine &D, size_t First) {
  char *Home = Map + Line * LineSize;
  D.Versions.erase(D.Versions.begin(), D.Versions.begin() + static_cast<ptrdiff_t>(First));
  D.Streamed.Words.clear();
  for (auto &[Thread, At] : D.Pending)
    At = At < First ? 0 : At - First;
  Hash -= lineHash(Line, Home);
  std::memcpy(Home, D.Versions.front().Bytes.data(), LineSize);
  Hash += lineHash(Line, Home);
}

void Media::keepAll() {
  for (auto &[Line, D] : Dirty)
    arrive(Line, D, D.Versions.size() - 1);
  Dirty.clear();
  Awaited.clear();
}

void Media::await(uint64_t Line, unsigned Thread) {
  DirtyLine &D = lineAt(Line);
  if (!D.Pending.count(Thread))
    Awaited[Thread].push_back(Line);
  D.Pending[Thread] = D.Versions.size() - 1;
}

void Media::fence(unsigned Thread) {
  for (uint64_t Line : std::exchange(Awaited[Thread], {})) {
    auto At = Dirty.find(Line);
    if (At == Dirty.end() || !At->second.Pending.count(Thread))
      continue; // somebody else changed it for good
    size_t First = At->second.Pending[Thread];
    At->second.Pending.erase(Thread);
    arrive(Line, At->second, First);
    if (At->second.Versions.size() == 1 && At->second.Pending.empty())
      Dirty.erase(At);
  }
}

} // namespace nvmove::crash
