// Another process: its memory, and what is mapped into it.
//
// The process goes on meanwhile. What is read of it may be of several moments, and addresses that it gives may be old:
// so a read may fail, or give anything, at any time.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace nvmove::stat {

struct Mapping {
  uint64_t Start = 0, End = 0, Offset = 0; ///< Offset: in the file
  bool Readable = false, Executable = false;
  uint64_t Device = 0, Inode = 0; ///< 0: of no file
  std::string Path;
};

/// What is mapped into the process \p Id. None: it is gone, or another user's.
std::vector<Mapping> mappingsOf(pid_t Id);

/// A file, as mappings name it. Some file systems give them another device than stat does: then the path decides.
struct MappedFile {
  uint64_t Device = 0, Inode = 0;
  std::string Path; ///< canonical

  bool isIn(const Mapping &M) const {
    return M.Inode == Inode && (M.Device == Device || M.Path == Path);
  }
};

/// The processes of this machine that have \p File mapped, as far as this user may know.
std::vector<pid_t> processesWith(const MappedFile &File);

class Process {
public:
  /// The error says what forbids it.
  static llvm::Expected<Process> open(pid_t Id);
  Process(Process &&Other) noexcept
      : Id(Other.Id), Memory(std::exchange(Other.Memory, -1)), Writable(Other.Writable) {}
  Process &operator=(Process &&) = delete;
  ~Process();

  pid_t id() const { return Id; }
  /// The program's name; empty: the process is gone.
  std::string name() const;

  bool read(uint64_t Address, void *To, size_t Size) const;
  template <typename T> std::optional<T> get(uint64_t Address) const {
    T Value;
    return read(Address, &Value, sizeof Value) ? std::optional<T>(Value) : std::nullopt;
  }
  /// The text at \p Address, as far as \p Most characters of it can be read.
  std::string text(uint64_t Address, size_t Most) const;

  bool canWrite() const { return Writable; }
  bool write(uint64_t Address, const void *From, size_t Size) const;

private:
  Process(pid_t Id, int Memory, bool Writable) : Id(Id), Memory(Memory), Writable(Writable) {}

  pid_t Id;
  int Memory; ///< descriptor of /proc/ID/mem
  bool Writable;
};

} // namespace nvmove::stat
