// Running a program on a private view: see Export.h.
#include "pool/Export.h"

#include "pool/OpenPool.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::pool {

namespace {

llvm::Error failed(const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), What);
}

[[noreturn]] void become(const std::string &Path, const std::string &Call, const std::string &Done,
                         const std::vector<std::string> &Program) {
  setenv("NVMOVE_OPEN", "copy", 1);
  setenv("NVMOVE_CALL_POOL", Path.c_str(), 1);
  setenv("NVMOVE_CALL_DONE", Done.c_str(), 1);
  if (!Call.empty())
    setenv("NVMOVE_CALL", Call.c_str(), 1);
  std::vector<char *> Words;
  for (const std::string &Word : Program)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  execvp(Words[0], Words.data());
  _exit(127);
}

llvm::Error wait(pid_t Child, const std::string &Name) {
  int Status = 0;
  if (Child < 0 || waitpid(Child, &Status, 0) != Child)
    return failed("the program cannot be started");
  if (WIFEXITED(Status) && WEXITSTATUS(Status) == 127)
    return failed("'" + Name + "' cannot be run; is the path right?");
  if (WIFSIGNALED(Status))
    return failed("the program was ended by signal " + llvm::Twine(WTERMSIG(Status)));
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::optional<int>> exportPool(const std::string &Path, const std::string &Call,
                                              const std::vector<std::string> &Program) {
  if (llvm::Expected<OpenPool> Sound = OpenPool::look(Path); !Sound) // nobody has it open
    return Sound.takeError();
  llvm::SmallString<128> Done;
  if (std::error_code Cause = llvm::sys::fs::createTemporaryFile("nvmove-export", "txt", Done))
    return failed("no temporary file: " + Cause.message());
  std::string Result(Done);
  pid_t Child = fork();
  if (Child == 0)
    become(Path, Call, Result, Program);
  llvm::Error Ended = wait(Child, Program[0]);
  auto Said = llvm::MemoryBuffer::getFile(Result);
  llvm::sys::fs::remove(Result);
  if (Ended)
    return std::move(Ended);
  llvm::StringRef Line = Said ? (*Said)->getBuffer().trim() : "";
  if (Call.empty() && Line.empty())
    return failed("the program ended without having opened " + Path + "; nothing was exported");
  if (Call.empty())
    return std::nullopt;
  int Value = 0;
  if (Line.consume_front("error: "))
    return failed(Line);
  if (Line.getAsInteger(10, Value))
    return failed("the program ended without having opened " + Path +
                  ", or without an ordinary end; nothing was called");
  return Value;
}

} // namespace nvmove::pool
