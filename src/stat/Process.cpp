// Another process: see Process.h.
#include "stat/Process.h"

#include "support/Failed.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace nvmove::stat {

using support::failed;

namespace {

std::string procPath(pid_t Id, const char *Name) {
  return "/proc/" + std::to_string(Id) + "/" + Name;
}

/// "7f00-8f00 rw-p 00001000 fd:00 1234   /path with spaces"
std::optional<Mapping> parsed(llvm::StringRef Line) {
  llvm::SmallVector<llvm::StringRef, 6> Words;
  Line.split(Words, ' ', 5, /*KeepEmpty=*/false);
  if (Words.size() < 5 || Words[1].size() < 3)
    return std::nullopt;
  Mapping M;
  auto [Start, End] = Words[0].split('-');
  auto [Major, Minor] = Words[3].split(':');
  unsigned MajorNumber = 0, MinorNumber = 0;
  if (Start.getAsInteger(16, M.Start) || End.getAsInteger(16, M.End) ||
      Words[2].getAsInteger(16, M.Offset) || Major.getAsInteger(16, MajorNumber) ||
      Minor.getAsInteger(16, MinorNumber) || Words[4].getAsInteger(10, M.Inode))
    return std::nullopt;
  M.Readable = Words[1][0] == 'r';
  M.Executable = Words[1][2] == 'x';
  M.Device = makedev(MajorNumber, MinorNumber);
  M.Path = Words.size() > 5 ? Words[5].trim().str() : "";
  return M;
}

} // namespace

std::vector<Mapping> mappingsOf(pid_t Id) {
  std::vector<Mapping> All;
  auto Text = llvm::MemoryBuffer::getFileAsStream(procPath(Id, "maps"));
  if (!Text)
    return All;
  llvm::SmallVector<llvm::StringRef, 0> Lines;
  (*Text)->getBuffer().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef Line : Lines)
    if (std::optional<Mapping> M = parsed(Line))
      All.push_back(std::move(*M));
  return All;
}

std::vector<pid_t> processesWith(const MappedFile &File) {
  std::vector<pid_t> Found;
  std::error_code Ignored;
  auto IsIt = [&](const Mapping &M) { return File.isIn(M); };
  for (std::filesystem::directory_iterator At("/proc", Ignored), End; At != End;
       At.increment(Ignored)) {
    pid_t Id = 0;
    if (llvm::StringRef(At->path().filename().string()).getAsInteger(10, Id))
      continue;
    std::vector<Mapping> All = mappingsOf(Id);
    if (std::any_of(All.begin(), All.end(), IsIt))
      Found.push_back(Id);
  }
  std::sort(Found.begin(), Found.end());
  return Found;
}

llvm::Expected<Process> Process::open(pid_t Id) {
  std::string Path = procPath(Id, "mem");
  int Memory = ::open(Path.c_str(), O_RDWR | O_CLOEXEC);
  bool Writable = Memory >= 0;
  if (Memory < 0)
    Memory = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (Memory >= 0)
    return Process(Id, Memory, Writable);
  std::string Who = "process " + std::to_string(Id);
  if (errno == ENOENT || errno == ESRCH)
    return failed(Who + ": there is no such process");
  if (errno == EACCES || errno == EPERM)
    return failed(Who +
                  ": its memory cannot be read: it is another user's, or the kernel lets only "
                  "its parent do so (/proc/sys/kernel/yama/ptrace_scope); do it as root");
  return failed(Who + ": " + std::strerror(errno));
}

Process::~Process() {
  if (Memory >= 0)
    close(Memory);
}

std::string Process::name() const {
  auto Text = llvm::MemoryBuffer::getFileAsStream(procPath(Id, "comm"));
  return Text ? (*Text)->getBuffer().rtrim("\n").str() : std::string();
}

bool Process::read(uint64_t Address, void *To, size_t Size) const {
  for (size_t Done = 0; Done < Size;) {
    ssize_t Got = pread(Memory, static_cast<char *>(To) + Done, Size - Done,
                        static_cast<off_t>(Address + Done));
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got <= 0)
      return false;
    Done += static_cast<size_t>(Got);
  }
  return true;
}

std::string Process::text(uint64_t Address, size_t Most) const {
  std::string Text;
  for (char Each; Text.size() < Most && read(Address + Text.size(), &Each, 1) && Each;)
    Text += Each;
  return Text;
}

bool Process::write(uint64_t Address, const void *From, size_t Size) const {
  return pwrite(Memory, From, Size, static_cast<off_t>(Address)) == static_cast<ssize_t>(Size);
}

} // namespace nvmove::stat
