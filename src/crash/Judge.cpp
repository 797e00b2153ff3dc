// Verdicts on states: see Judge.h.
#include "crash/Judge.h"

#include "crash/Shell.h"
#include "crash/Worker.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::crash {
struct Judge::Shared : Task {};

Judge::Judge(const Media &M, uint64_t Base, std::string Checker, std::string Command)
    : M(M), Checker(std::move(Checker)), Command(std::move(Command)) {
  void *Map = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Map == MAP_FAILED)
    llvm::report_fatal_error("out of memory for verdicts");
  Common = static_cast<Shared *>(Map);
  Common->Base = Base;
}

Judge::~Judge() {
  stop();
  munmap(Common, sizeof(Shared));
}

/// The line in the list, as the committed data says, without the bytes that groups look after.
bool Judge::refresh(const History &H, uint64_t Line) {
  auto Data = H.lines().find(Line);
  auto Away = Touched.find(Line);
  uint64_t Mask = Data == H.lines().end() ? 0 : Data->second.Mask & ~H.unknown(Line);
  if (Away != Touched.end())
    Mask &= ~Away->second;
  auto Slot = Slots.find(Line);
  if (Slot == Slots.end()) {
    if (!Mask)
      return true;
    if (Common->Count == LinesMax)
      return false;
    Slot = Slots.insert({Line, Common->Count++}).first;
  }
  Wanted &W = Common->Lines[Slot->second];
  W.Line = Line;
  W.Mask = Mask;
  if (Mask)
    std::memcpy(W.Bytes, Data->second.Bytes, LineSize);
  return true;
}

bool Judge::take(const std::vector<Group> &Groups) {
  bool Fits = true;
  Common->GroupCount = Common->AltCount = Common->AltLineCount = 0;
  for (const Group &G : Groups) {
    size_t Lines = 0;
    for (const Alternative &A : G.Alternatives)
      Lines += A.Lines.size();
    if (G.Alternatives.empty() || Common->GroupCount == GroupsMax ||
        Common->AltCount + G.Alternatives.size() > AlternativesMax ||
        Common->AltLineCount + Lines > GroupLinesMax) {
      Fits = false;
      continue;
    }
    auto &Into = Common->Groups[Common->GroupCount++];
    Into.First = static_cast<uint32_t>(Common->AltCount);
    Into.Count = static_cast<uint32_t>(G.Alternatives.size());
    for (const Alternative &A : G.Alternatives) {
      auto &One = Common->Alternatives[Common->AltCount++];
      One.First = static_cast<uint32_t>(Common->AltLineCount);
      One.Count = static_cast<uint32_t>(A.Lines.size());
      One.Newest = A.Newest;
      for (const Wanted &W : A.Lines)
        Common->AltLines[Common->AltLineCount++] = W;
    }
  }
  return Fits;
}

bool Judge::expect(History &H) {
  std::vector<Group> Groups = groupsOf(H);
  std::map<uint64_t, uint64_t> Before = std::exchange(Touched, {});
  for (const Group &G : Groups)
    for (auto [Line, Mask] : G.Touched)
      Touched[Line] |= Mask;
  bool Fits = take(Groups);
  for (auto [Line, Mask] : Before)
    Fits &= refresh(H, Line);
  for (auto [Line, Mask] : Touched)
    Fits &= refresh(H, Line);
  for (uint64_t Line : H.takeChanged())
    Fits &= refresh(H, Line);
  return Fits;
}

bool isLibrary(const std::string &Check) {
  llvm::StringRef Text = Check;
  return Text.ends_with(".so") && !Text.contains("{}");
}

std::string checkerFault(const std::string &Path) {
  dlerror();
  if (Path.empty())
    return "";
  void *Library = dlopen(Path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (Library && (dlsym(Library, "nvm_crash_check") || dlsym(Library, "nvm_crash_check_file")))
    return "";
  const char *Why = Library ? nullptr : dlerror();
  return Path + ": " +
         (Why ? Why : "no function nvm_crash_check (of a pool) or nvm_crash_check_file");
}

bool checksFiles(const std::string &Path) {
  void *Library = isLibrary(Path) ? dlopen(Path.c_str(), RTLD_NOW | RTLD_GLOBAL) : nullptr;
  return Library && dlsym(Library, "nvm_crash_check_file");
}

void Judge::start() {
  int Down[2], Up[2];
  if (pipe2(Down, O_CLOEXEC) || pipe2(Up, O_CLOEXEC))
    llvm::report_fatal_error("no pipes for the judge");
  llvm::outs().flush();
  Worker = fork();
  if (Worker == 0) {
    becomeHelper();
    Said.redirect();
    close(Down[1]);
    close(Up[0]);
    setenv("NVMOVE_OPEN", "copy", 1);
    for (const char *Name :
         {"NVMOVE_TRACE", "NVMOVE_METHOD", "NVMOVE_DOMAIN", "NVMOVE_KILL_AT", "NVMOVE_STATS"})
      unsetenv(Name);
    Check Loaded = loadChecker(Checker);
    for (char Byte; read(Down[0], &Byte, 1) == 1;) {
      work(*Common, Loaded);
      fflush(nullptr); // the checker's
      if (write(Up[1], &Byte, 1) != 1)
        break;
    }
    _exit(0);
  }
  if (Worker > 0) {
    Ours.emplace(Worker);
    Ended = static_cast<int>(syscall(SYS_pidfd_open, Worker, 0)); // -1: its pipe tells
  }
  close(Down[0]);
  close(Up[1]);
  ToWorker = Down[1];
  FromWorker = Up[0];
}

void Judge::stop() {
  if (Worker < 0)
    return;
  close(ToWorker);
  close(FromWorker);
  if (Ended >= 0)
    close(std::exchange(Ended, -1));
  Ours.reset();
  waitpid(Worker, nullptr, 0);
  Worker = -1;
  killStrays();
}

Judgement Judge::ask() {
  if (Worker < 0)
    start();
  char Byte = 0;
  Said.clear();
  bool Asked = write(ToWorker, &Byte, 1) == 1;
  pollfd Files[] = {{FromWorker, POLLIN, 0}, {Said.from(), POLLIN, 0}, {Ended, POLLIN, 0}};
  int Ready = Asked ? 1 : 0;
  for (Deadline Until = deadline(); Ready > 0 && !Files[0].revents && !Files[2].revents;) {
    Ready = pollUntil(Files, std::size(Files), Until);
    if (Files[1].revents)
      Said.take(); // all of it: the worker answers behind it
  }
  // A worker that has ended says nothing more; a child of the checker may hold its pipe open.
  bool Answers = Ready > 0 && Files[0].revents;
  if (Answers && read(FromWorker, &Byte, 1) == 1) {
    Judgement J{Common->What,   Common->Message, Common->Place, Common->Found,
                Common->Before, Common->After,   Common->Newest};
    if (J.What == Verdict::Refused)
      J.Said = Said.told();
    return J;
  }
  bool InChecker = Common->At == Task::Checker;
  std::string Who = InChecker ? "nvm_crash_check" : "recovery";
  Judgement J;
  J.Newest = Common->Newest;
  bool Hangs = Ready == 0;
  J.What = InChecker ? (Hangs ? Verdict::CheckerHung : Verdict::CheckerDied)
           : Hangs   ? Verdict::Hung
                     : Verdict::Died;
  J.Message = Who + (Ready == 0 ? " took more than 5 s" : " ended the process");
  stop();
  return J;
}

Judgement verdictOf(const CommandEnd &End, const std::string &Command, bool &HasRun, bool &Fails) {
  Fails |= End.NotStarted || (!HasRun && End.isMissing());
  HasRun = true;
  if (End.isGood() || Fails)
    return {};
  Judgement J;
  J.What = End.Hung ? Verdict::CheckerHung : Verdict::Refused;
  J.Message = "'" + Command + "' " + End.text();
  J.Said = End.Said;
  return J;
}

Judgement Judge::askCommand(const std::string &Path) {
  setenv("NVMOVE_OPEN", "copy", 1);
  CommandEnd End = runShell(replaced(Command, "{}", Path));
  unsetenv("NVMOVE_OPEN");
  return verdictOf(End, Command, HasRun, CommandFails);
}

Judgement Judge::judge(const std::string &Path) {
  snprintf(Common->Path, sizeof Common->Path, "%s", Path.c_str());
  Judgement J = ask();
  if (J.What == Verdict::NotRecovered && MayRefuse)
    return {};
  if (J.What != Verdict::Right || Command.empty())
    return J;
  Judgement Answer = askCommand(Path);
  Answer.Newest = J.Newest;
  return Answer;
}

} // namespace nvmove::crash
