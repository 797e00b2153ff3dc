// Checkers of files: see FileJudge.h.
#include "crash/FileJudge.h"

#include "crash/Shell.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

std::string pathOf(int Fd) {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(Fd);
}

} // namespace

llvm::Expected<std::unique_ptr<FileJudge>>
FileJudge::make(const Trace &T, const Media &M, std::string Checker, std::string Command) {
  std::unique_ptr<FileJudge> J(new FileJudge(T));
  auto Fail = [](const std::string &Why) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), Why);
  };
  auto Copy = M.copy();
  if (!Copy)
    return Copy.takeError();
  J->Copy = std::move(*Copy);
  J->Command = std::move(Command);
  J->AckedFd = memfd_create("nvmove-acked", MFD_CLOEXEC);
  if (J->AckedFd < 0)
    return Fail("cannot make a file of what was printed");
  if (!Checker.empty()) {
    void *Opened = dlopen(Checker.c_str(), RTLD_NOW | RTLD_GLOBAL);
    J->Library = Opened ? reinterpret_cast<Check>(dlsym(Opened, "nvm_crash_check_file")) : nullptr;
    if (!J->Library)
      return Fail(Checker + ": no function nvm_crash_check_file, which a program that flushes by "
                            "itself is checked with");
    void *Map =
        mmap(nullptr, sizeof(Answers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (Map == MAP_FAILED)
      return Fail("out of memory for verdicts");
    J->Answer = static_cast<volatile Answers *>(Map);
  }
  return std::move(J);
}

FileJudge::~FileJudge() {
  if (AckedFd >= 0)
    close(AckedFd);
  if (Answer)
    munmap(const_cast<Answers *>(Answer), sizeof(Answers));
}

void FileJudge::putAcked(uint64_t Bytes) {
  llvm::StringRef Printed = T.Output ? T.Output->getBuffer().take_front(Bytes) : "";
  Acked = Printed.size();
  if (ftruncate(AckedFd, 0) ||
      pwrite(AckedFd, Printed.data(), Printed.size(), 0) != static_cast<ssize_t>(Printed.size()))
    llvm::report_fatal_error("no room for what was printed");
}

Judgement FileJudge::askCommand() {
  std::string Line = replaced(Command, "{acked}", pathOf(AckedFd));
  CommandEnd End = runShell(replaced(Line, "{}", Copy->path()));
  return verdictOf(End, Command, HasRun, CommandFails);
}

/// Of a library that did not accept. It may also end the process by itself, with any status.
Judgement FileJudge::refusal(const End &How, Answers Answer, const crash::Printed &Said) {
  Judgement J;
  J.Said = Said.told();
  J.Message = "nvm_crash_check_file ";
  if (How.Hung) {
    J.What = Verdict::CheckerHung;
    J.Message += "took more than 5 s";
  } else if (Answer == Answers::Refuses) {
    J.What = Verdict::Refused;
    J.Message += "did not return 0";
  } else {
    J.What = Verdict::CheckerDied;
    J.Message += WIFSIGNALED(How.Status)
                     ? "ended with signal " + std::to_string(WTERMSIG(How.Status))
                     : "ended the process with status " + std::to_string(WEXITSTATUS(How.Status)) +
                           ", and did not return";
  }
  return J;
}

Judgement FileJudge::askLibrary() {
  llvm::outs().flush();
  std::string Path = Copy->path();
  crash::Printed Said;
  *Answer = Answers::None;
  pid_t Child = fork();
  if (Child == 0) {
    becomeHelper();
    Said.redirect();
    llvm::StringRef Printed = T.Output ? T.Output->getBuffer().take_front(Acked) : "";
    bool Refuses = Library(Path.c_str(), Printed.data(), Printed.size()) != 0;
    fflush(nullptr);
    *Answer = Refuses ? Answers::Refuses : Answers::Accepts;
    _exit(0);
  }
  if (Child < 0)
    llvm::report_fatal_error("no process for the checker");
  std::optional<HelperGroup> Group;
  Group.emplace(Child);
  End How = awaitEnd(Child, Group, Said);
  if (!How.Hung && How.Status == 0 && *Answer == Answers::Accepts)
    return {};
  return refusal(How, *Answer, Said);
}

Judgement FileJudge::judge(const Media &M, uint64_t Length, uint64_t Printed) {
  M.copyTo(*Copy, Length);
  putAcked(Printed);
  return Library ? askLibrary() : askCommand();
}

} // namespace nvmove::crash
