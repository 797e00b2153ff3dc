// Versions of lines: see Media.h.
#include "crash/Media.h"

#include "llvm/Support/xxhash.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

/// Of one line, between two guarantees; what came in the middle of more is not told apart.
constexpr size_t VersionsMax = 24;

llvm::Error failed(const char *What) {
  return llvm::createStringError(std::error_code(errno, std::generic_category()),
                                 "cannot make the image of a pool: %s", What);
}

} // namespace

llvm::Expected<std::unique_ptr<Media>> Media::make(uint64_t Size) {
  std::unique_ptr<Media> M(new Media);
  M->Size = Size;
  M->Fd = memfd_create("nvmove-crash", MFD_CLOEXEC);
  if (M->Fd < 0 || ftruncate(M->Fd, static_cast<off_t>(M->Size)))
    return failed("memfd");
  void *Map = mmap(nullptr, M->Size, PROT_READ | PROT_WRITE, MAP_SHARED, M->Fd, 0);
  if (Map == MAP_FAILED)
    return failed("mmap");
  M->Map = static_cast<char *>(Map);
  return std::move(M);
}

/// Pages of zeros stay holes.
llvm::Expected<std::unique_ptr<Media>> Media::make(const Trace &T) {
  constexpr size_t Block = 1 << 16;
  static const char Zero[Block] = {};
  llvm::StringRef Image = T.Image->getBuffer();
  auto M = make(T.SizeMax);
  if (!M)
    return M.takeError();
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
    Version Guaranteed{{}, 0};
    std::memcpy(Guaranteed.Bytes.data(), Map + Line * LineSize, LineSize);
    D.Versions.push_back(Guaranteed);
  }
  return D;
}

void Media::push(uint64_t Line, const std::array<char, LineSize> &Bytes, size_t Event) {
  DirtyLine &D = lineAt(Line);
  if (D.Versions.back().Bytes == Bytes)
    return;
  if (D.Versions.size() == VersionsMax && D.Pending.empty()) {
    D.Versions.erase(D.Versions.begin() + VersionsMax / 2);
    Forgot = true;
  }
  D.Versions.push_back({Bytes, Event});
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

bool Media::apply(size_t Index, const Event &E, bool Apart) {
  switch (E.Kind) {
  case NVM_TRACE_STORE:
  case NVM_TRACE_UNSEEN:
  case NVM_TRACE_VOLATILE:
    return !Apart && store(E.Place, E.Bytes, Index);
  case NVM_TRACE_STREAM:
    for (uint64_t I = 0; I + LineSize <= E.Bytes.size(); I += LineSize) {
      uint64_t Line = (E.Place + I) / LineSize;
      std::array<char, LineSize> Next = lineAt(Line).Versions.back().Bytes;
      std::memcpy(Next.data() + LineSize / 2, E.Bytes.data() + I + LineSize / 2, LineSize / 2);
      push(Line, Next, Index);
      std::memcpy(Next.data(), E.Bytes.data() + I, LineSize);
      push(Line, Next, Index);
      await(Line, E.Thread);
    }
    return true;
  case NVM_TRACE_LINE: {
    uint64_t Line = E.Place / LineSize;
    std::array<char, LineSize> Next = lineAt(Line).Versions.back().Bytes;
    for (unsigned I = 0; I < LineSize && I < E.Bytes.size(); ++I)
      if (E.Extra >> I & 1)
        Next[I] = E.Bytes[I];
    push(Line, Next, Index);
    await(Line, E.Thread);
    return true;
  }
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

void Media::settle(uint64_t Line, DirtyLine &D, size_t First) {
  char *Home = Map + Line * LineSize;
  D.Versions.erase(D.Versions.begin(), D.Versions.begin() + static_cast<ptrdiff_t>(First));
  for (auto &[Thread, At] : D.Pending)
    At = At < First ? 0 : At - First;
  Hash -= lineHash(Line, Home);
  std::memcpy(Home, D.Versions.front().Bytes.data(), LineSize);
  Hash += lineHash(Line, Home);
}

void Media::keepAll() {
  for (auto &[Line, D] : Dirty)
    settle(Line, D, D.Versions.size() - 1);
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
    settle(Line, At->second, First);
    if (At->second.Versions.size() == 1 && At->second.Pending.empty())
      Dirty.erase(At);
  }
}

} // namespace nvmove::crash
