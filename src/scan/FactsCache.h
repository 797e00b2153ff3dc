// Remembers the facts of each translation unit between runs.
//
// One file an entry, named after a hash of what decides the facts besides file contents: this
// executable, the facts format, the working directory, the command and the environment that Clang
// looks at. The entry holds a manifest (path, size, times and content hash of every file that the
// compilation read, and the paths at which it found nothing) and the facts. It answers when every
// file is unchanged and nothing has appeared at those paths; a file whose size and times are as
// recorded is not read again, unless it was so young when recorded that a later change could carry
// the same times.
//
// Any number of processes may share a folder: entries are replaced atomically. A folder that
// cannot be written costs one warning and nothing else; a damaged entry is made anew. Entries not
// used for a month, and the oldest beyond CacheBytesMax, are removed now and then.
#pragma once

#include "facts/Facts.h"
#include "scan/Recorder.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/EndianStream.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace nvmove::scan {

/// What is known of one file on disk; equal stamps mean equal files as far as stat can tell.
struct FileStamp {
  uint64_t Size = 0;
  int64_t ModifiedNs = 0; ///< Content times; nanoseconds since the epoch.
  int64_t ChangedNs = 0;  ///< Inode time: moves even when the other is set back by hand.
  bool operator==(const FileStamp &O) const {
    return Size == O.Size && ModifiedNs == O.ModifiedNs && ChangedNs == O.ChangedNs;
  }
};

/// A 128-bit XXH3 hash.
struct ContentHash {
  uint64_t Low = 0, High = 0;
  bool operator==(const ContentHash &O) const { return Low == O.Low && High == O.High; }
};

/// Stamps and hashes of files, each taken at most once a run. Thread-safe.
class FileHashes {
public:
  std::optional<FileStamp> stamp(const std::string &Path);
  std::optional<ContentHash> hash(const std::string &Path);
  /// Whether anything is there, a file or not.
  bool isThere(const std::string &Path);

private:
  struct Known {
    bool Stamped = false, Hashed = false;
    std::optional<FileStamp> Stamp;
    std::optional<ContentHash> Hash;
  };
  std::mutex Mutex;
  std::map<std::string, Known> Files;
  std::map<std::string, bool> There;
};

/// What an entry answers with.
struct Remembered {
  facts::TranslationUnit Unit;
  std::vector<std::string> Inputs; ///< As of the Recording.
};

class FactsCache {
public:
  /// Uses (and creates) \p Folder. \p Warn is called at most once, with the reason why nothing
  /// can be stored.
  FactsCache(std::string Folder, std::function<void(const std::string &)> Warn);

  /// The stored facts of \p Command when they still hold.
  std::optional<Remembered> lookup(const CompileCommand &Command);

  /// Stores \p R, made by record(\p Command) after this cache object was. Does nothing when an
  /// input has changed since then.
  void store(const CompileCommand &Command, const Recording &R);

  /// Removes old entries, at most once an hour whoever calls.
  void prune();

private:
  std::string entryPath(const CompileCommand &Command) const;
  bool stillHolds(llvm::StringRef Manifest, std::vector<std::string> &Inputs);
  bool putAbsent(llvm::support::endian::Writer &Out, const std::vector<std::string> &Absent);
  /// "" when an input cannot be vouched for.
  std::string makeManifest(const Recording &R);
  void warnOnce(const std::string &Why);

  std::string Folder;
  std::string Salt; ///< The part of every key that is the same for all commands.
  std::function<void(const std::string &)> Warn;
  std::mutex WarnMutex;
  bool Writable = true;
  const int64_t StartedNs; ///< On the clock that files are stamped with.
  FileHashes Hashes;
};

} // namespace nvmove::scan
