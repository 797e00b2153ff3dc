// What a crash may leave of each line of the file.
//
// Power: a line's stores reach the media in their order, eight aligned bytes at a time; a line may
// be written back at any moment; a fence guarantees what the same thread flushed or streamed before
// it. Lines streamed past the cache may arrive in parts: half a line stands for those; words of a
// line that are streamed one by one, in any order. In raw traces a copy is upwards or downwards. Process:
// every store that was executed is there, word by word. Disk: the same while the machine lives; when it fails,
// sectors of 512 bytes have whatever they had at some moment since the file was synchronised.
#pragma once

#include "crash/Trace.h"

#include <array>
#include <map>
#include <utility>

namespace nvmove::crash {

enum class Model { Power, Process, Disk };

struct Version {
  std::array<char, LineSize> Bytes;
  size_t Event;  ///< that made it
  size_t Moment; ///< when, among all versions: a long store makes many
};

/// Words of one line that a thread streamed since its last fence: any of them may be there.
struct Burst {
  struct Word {
    size_t At;
    std::array<char, 8> Bytes;
    size_t Size;
    size_t Event;
  };
  unsigned Thread = 0;
  std::array<char, LineSize> Before = {}; ///< the line without any of them
  std::vector<Word> Words;                ///< none: nothing is on its way
};

struct DirtyLine {
  std::vector<Version> Versions;      ///< the first is guaranteed
  std::map<unsigned, size_t> Pending; ///< thread -> version that its next fence guarantees
  Burst Streamed;
};

/// One line's share in a state: which of its versions.
struct Choice {
  uint64_t Line;
  const DirtyLine *Dirty;
  size_t Version;
};
using Choices = std::vector<Choice>;
/// Each line has its last version.
bool losesNothing(const Choices &All);

/// The file, as guaranteed, in a memory file that other processes can open; and the dirty lines.
class Media {
public:
  /// \p InOrder: what is streamed arrives upwards, word by word, as the process stores it.
  static llvm::Expected<std::unique_ptr<Media>> make(const Trace &T, bool InOrder = false);
  /// All that is guaranteed now.
  llvm::Expected<std::unique_ptr<Media>> copy() const;
  /// The same into another memory file of the same size, mapped at \p To.
  void copyTo(int ToFd, char *To) const;
  /// Into a copy, whatever somebody has done to it; its file is as long as \p Length then.
  void copyTo(Media &To, uint64_t Length) const;
  ~Media();

  /// Applies event number \p Index; true: it changed what a crash may leave.
  bool apply(size_t Index, const Event &E, bool Apart);
  /// What it stores, if any, is in the image at once: of a Media to which nothing else is done.
  void storeFlat(const Event &E, bool Apart);
  /// The fence of \p Thread.
  void fence(unsigned Thread);
  /// The file is no longer than \p Length, and was \p Before: what it loses is zero from now on.
  void cut(uint64_t Length, uint64_t Before);
  /// All that was stored is there for good: the process dies, the machine does not.
  void keepAll();

  /// Since it was asked last, a line had more versions than are kept.
  bool forgot() { return std::exchange(Forgot, false); }

  /// The lines of which a crash may leave more than one version, each at its first.
  Choices choices() const;
  /// Patches the image to that state, and back to what is guaranteed.
  void put(const Choices &All) { patch(All, false); }
  void takeBack(const Choices &All) { patch(All, true); }
  /// The hash() of the image in that state.
  uint64_t hashOf(const Choices &All) const;
  char *data() const { return Map; }
  std::string path() const; ///< under which any process opens it
  /// Hash of the guaranteed image; changes by lineHash() of what changes.
  uint64_t hash() const { return Hash; }
  static uint64_t lineHash(uint64_t Line, const char *Bytes);

private:
  Media() = default;
  static llvm::Expected<std::unique_ptr<Media>> make(uint64_t Size);
  DirtyLine &lineAt(uint64_t Line);
  void push(uint64_t Line, const std::array<char, LineSize> &Bytes, size_t Event);
  bool store(uint64_t Place, llvm::StringRef Bytes, size_t Event);
  void storeDownwards(uint64_t Place, llvm::StringRef Bytes, size_t Event);
  bool storeCopy(uint64_t Place, llvm::StringRef Bytes, size_t Event);
  void streamWord(uint64_t Line, unsigned Thread, const Burst::Word &W);
  void zero(uint64_t From, uint64_t To);
  void stream(uint64_t Line, llvm::StringRef Bytes, size_t Event);
  void streamWords(const struct Event &E, size_t Index);
  void synchronise(uint64_t Place, uint64_t Bytes);
  void storeWords(uint64_t Line, llvm::StringRef Bytes, uint64_t Mask, size_t Event);
  void arrive(uint64_t Line, DirtyLine &D, size_t First);
  void change(uint64_t Place, llvm::StringRef Bytes);
  void patch(const Choices &All, bool Back);

  void await(uint64_t Line, unsigned Thread);

  std::map<uint64_t, DirtyLine> Dirty;
  std::map<unsigned, std::vector<uint64_t>> Awaited; ///< thread -> lines that wait for its fence
  char *Map = nullptr;
  uint64_t Size = 0, Hash = 0;
  int Fd = -1;
  size_t Moments = 0;
  bool Forgot = false, InOrder = false, Raw = false;
};

} // namespace nvmove::crash
