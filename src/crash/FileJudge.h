// Judges a state of a file that is no pool, or whose program makes it persistent by itself: the
// user's checker does, with a copy of the file that it may change.
//
// A checker is a command, or a shared object with
//   int nvm_crash_check_file(const char *path, const char *acked, size_t size)
// of which 0 is right. `acked` are the `size` bytes that the program had printed to stdout when the
// crash came: what it said to have done must be there. A command has {} for the path of the file
// and {acked} for that of a file with these bytes. What crashes or hangs is not right either.
#pragma once

#include "crash/Judge.h"

namespace nvmove::crash {

class FileJudge {
public:
  /// An error: no memory, or \p Checker is none.
  static llvm::Expected<std::unique_ptr<FileJudge>> make(const Trace &T, const Media &M,
                                                         std::string Checker, std::string Command);
  ~FileJudge();

  /// The image in media of the same size, of a file of \p Length bytes, after \p Acked were printed.
  Judgement judge(const Media &M, uint64_t Length, uint64_t Acked);

  bool commandFails() const { return CommandFails; }

private:
  using Check = int (*)(const char *, const char *, size_t);
  enum class Answers { None, Accepts, Refuses }; ///< None: the function did not return

  explicit FileJudge(const Trace &T) : T(T) {}
  Judgement askCommand();
  Judgement askLibrary();
  static Judgement refusal(const End &How, Answers Answer, const crash::Printed &Said);
  void putAcked(uint64_t Acked);

  const Trace &T;
  std::string Command;
  Check Library = nullptr;
  volatile Answers *Answer = nullptr; ///< of the library, in memory that both processes have
  std::unique_ptr<Media> Copy;
  int AckedFd = -1;
  uint64_t Acked = 0;
  bool CommandFails = false, HasRun = false;
};

} // namespace nvmove::crash
