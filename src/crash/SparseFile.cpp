// Files with holes: see SparseFile.h.
#include "crash/SparseFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

class Pages : public llvm::MemoryBuffer {
public:
  Pages(char *Map, size_t Size) : Map(Map), Size(Size) {
    init(Map, Map + Size, /*RequiresNullTerminator=*/false);
  }
  ~Pages() override { munmap(Map, Size); }
  BufferKind getBufferKind() const override { return MemoryBuffer_MMap; }

private:
  char *Map;
  size_t Size;
};

bool readAll(int Fd, char *To, off_t From, off_t End) {
  while (From < End) {
    ssize_t Got = pread(Fd, To + From, static_cast<size_t>(End - From), From);
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got <= 0)
      return false;
    From += Got;
  }
  return true;
}

bool readData(int Fd, char *To, off_t Size) {
  for (off_t At = 0, End; (At = lseek(Fd, At, SEEK_DATA)) >= 0 && At < Size; At = End) {
    End = lseek(Fd, At, SEEK_HOLE);
    if (End < 0 || !readAll(Fd, To, At, std::min(End, Size)))
      return false;
  }
  return true;
}

} // namespace

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readSparse(const std::string &Path) {
  auto Failed = [&] {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   Path + ": " + std::strerror(errno));
  };
  struct stat Status;
  int Fd = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (Fd < 0)
    return Failed();
  std::unique_ptr<llvm::MemoryBuffer> Made;
  if (fstat(Fd, &Status) == 0 && Status.st_size == 0)
    Made = llvm::MemoryBuffer::getMemBuffer("");
  else if (void *Map = mmap(nullptr, static_cast<size_t>(Status.st_size), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
           Map != MAP_FAILED) {
    auto Read =
        std::make_unique<Pages>(static_cast<char *>(Map), static_cast<size_t>(Status.st_size));
    if (readData(Fd, static_cast<char *>(Map), Status.st_size))
      Made = std::move(Read);
  }
  llvm::Error Why = Failed();
  close(Fd);
  if (!Made)
    return std::move(Why);
  llvm::consumeError(std::move(Why));
  return std::move(Made);
}

} // namespace nvmove::crash
