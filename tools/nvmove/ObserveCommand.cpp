// `nvmove observe`: runs a program that writes down what it allocates, and says what became of it.
#include "nvmove/Commands.h"
#include "nvmove/Next.h"

#include "observe/Show.h"
#include "support/Failed.h"
#include "support/Files.h"
#include "support/Signals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::tool {

using support::failed;
namespace {

volatile pid_t Observed; ///< the program

void pass(int Number) {
  if (pid_t Child = Observed)
    kill(Child, Number);
}

/// Runs a program to its end, with NVMOVE_OBSERVE. Its status as wait() gives it.
llvm::Expected<int> runObserved(const std::vector<std::string> &Command,
                                const std::string &Folder) {
  std::vector<char *> Words;
  for (const std::string &Each : Command)
    Words.push_back(const_cast<char *>(Each.c_str()));
  Words.push_back(nullptr);
  llvm::outs().flush();
  pid_t Child = fork();
  if (Child == 0) {
    setenv("NVMOVE_OBSERVE", Folder.c_str(), 1);
    execvp(Words[0], Words.data());
    llvm::errs() << "nvmove: error: " << Command[0] << ": " << strerror(errno) << '\n';
    _exit(127);
  }
  if (Child < 0)
    return llvm::createStringError(llvm::errnoAsErrorCode(), "no process can be started");
  Observed = Child;
  for (int Number : {SIGINT, SIGTERM, SIGHUP})
    support::setSignal(Number, pass);
  int Status = 0;
  while (waitpid(Child, &Status, 0) < 0 && errno == EINTR)
    continue;
  for (int Number : {SIGINT, SIGTERM, SIGHUP})
    support::setSignal(Number, SIG_DFL);
  Observed = 0;
  return Status;
}

class Observing {
public:
  explicit Observing(const Arguments &A)
      : A(A), Said(llvm::errs(), support::wantsColor(A.Color, llvm::errs()), A.Quiet) {}

  int run() {
    for (const std::string &Path : A.Observe.Shows)
      if (llvm::Error Wrong = addPath(Path))
        return refuse(std::move(Wrong));
    if (!A.Flags.empty())
      if (llvm::Error Wrong = runCommand())
        return refuse(std::move(Wrong));
    if (llvm::Error Wrong = choose())
      return refuse(std::move(Wrong));
    observe::Fates Fates = observe::judge(Seen, A.Load);
    look(Fates);
    if (!A.Output.empty())
      if (llvm::Error Wrong = support::writeFile(
              A.Output, [&](llvm::raw_ostream &OS) { OS << observe::toJson(Seen); }))
        return refuse(std::move(Wrong));
    llvm::sys::fs::remove_directories(Temporary);
    if (!A.Quiet)
      observe::show(llvm::outs(), Seen, Fates, A.Load, A.Observe.All);
    if (Status == ExitComplete)
      tellNext(A, next());
    return Status;
  }

private:
  /// The observation takes no flags of the compiler: what followed -- is the command that ran.
  std::string next() const {
    if (A.Output.empty())
      return "the same with -o FILE, which 'nvmove plan --observed FILE' reads";
    Arguments Of;
    Of.Observed = A.Output;
    return asked("nvmove plan", Of, A.Load.empty() ? std::vector<std::string>{"FUNCTION"} : A.Load,
                 std::string(" -o ") + UsualPortFile);
  }

  int refuse(llvm::Error Wrong) {
    Said.error(std::move(Wrong));
    if (!Temporary.empty() && llvm::sys::fs::remove(Temporary))
      Said.note("what was observed is in " + Temporary + "; --show takes it");
    return ExitUsage;
  }

  /// A folder of files of processes, or an observation.
  llvm::Error addPath(const std::string &Path) {
    if (llvm::sys::fs::is_directory(Path))
      return addFolder(Path);
    auto Read = observe::readObservation(Path);
    if (!Read)
      return Read.takeError();
    return add(*Read);
  }

  llvm::Error addFolder(const std::string &Folder) {
    std::error_code Ignored;
    std::vector<std::string> Files;
    for (llvm::sys::fs::directory_iterator I(Folder, Ignored), End; I != End && !Ignored;
         I.increment(Ignored))
      if (llvm::StringRef(I->path()).ends_with(".raw"))
        Files.push_back(I->path());
    llvm::sort(Files);
    for (const std::string &File : Files) {
      observe::Observation One;
      if (llvm::Error Wrong = observe::addRaw(One, File))
        return Wrong;
      if (llvm::Error Wrong = add(One))
        return Wrong;
    }
    return llvm::Error::success();
  }

  llvm::Error add(const observe::Observation &One) {
    observe::Observation &Known = Programs[One.Program];
    for (const auto &[File, Md5] : One.Files)
      if (auto Old = Known.Files.find(File); Old != Known.Files.end() && Old->second != Md5)
        return failed(File + " was changed between two of these observations");
    observe::addObservation(Known, One);
    return llvm::Error::success();
  }

  /// The program that is meant: the one that --program names, or that has the load function.
  llvm::Error choose() {
    std::vector<const observe::Observation *> Meant;
    std::string Names;
    for (const auto &[Path, One] : Programs) {
      std::string Name = llvm::sys::path::filename(Path).str();
      Names += (Names.empty() ? "" : ", ") + Name;
      bool Only = Programs.size() == 1 && A.Observe.Program.empty();
      if (Only || Name == A.Observe.Program ||
          (A.Observe.Program.empty() && observe::judge(One, A.Load).LoadRan))
        Meant.push_back(&One);
    }
    if (Programs.empty())
      return failed("nothing was observed: no process of a program built with "
                    "'nvmove-cc --nvmove-observe' ended, or waited for input");
    if (Meant.size() != 1)
      return failed((A.Observe.Program.empty() ? "several programs were observed: "
                                               : "'" + A.Observe.Program + "' is none of these: ") +
                    Names + "; --program NAME takes one of them");
    Seen = *Meant.front();
    return llvm::Error::success();
  }

  llvm::Error runCommand() {
    llvm::SmallString<128> &Folder = Temporary;
    if (A.Output.empty()) {
      if (std::error_code Error = llvm::sys::fs::createUniqueDirectory("nvmove-observe", Folder))
        return llvm::createStringError(Error, "no temporary folder: " + Error.message());
    } else {
      Folder = support::absolutePath(A.Output + ".raw");
      if (std::error_code Error = llvm::sys::fs::create_directory(Folder, false))
        return failed(std::exchange(Folder, llvm::SmallString<128>()).str() + ": " +
                      Error.message() + "; if an earlier run left it, --show it or remove it");
    }
    llvm::Expected<int> Ended = runObserved(A.Flags, Folder.str().str());
    llvm::Error Wrong = Ended ? addFolder(Folder.str().str()) : Ended.takeError();
    if (!Wrong)
      tellEnd(*Ended);
    return Wrong;
  }

  void tellEnd(int Ended) {
    if (WIFEXITED(Ended) && WEXITSTATUS(Ended) == 0)
      return;
    Status = ExitIncomplete;
    if (WIFSIGNALED(Ended))
      Said.warning("the command was ended by " + llvm::Twine(strsignal(WTERMSIG(Ended))));
    else
      Said.warning("the command ended with status " + llvm::Twine(WEXITSTATUS(Ended)));
  }

  void look(const observe::Fates &Fates) {
    bool HasNames = llvm::any_of(Seen.Stacks, [](const observe::Stack &S) {
      return llvm::any_of(S.Calls, [](const observe::Call &C) { return !C.File.empty(); });
    });
    bool HasMade = llvm::any_of(Seen.Stacks, [](const observe::Stack &S) { return S.Made; });
    if (!HasMade)
      warn("no allocation was noted: does the program have a malloc of its own, or a sanitizer's?");
    else if (!HasNames)
      warn("the program has no debug information: was it stripped, or compiled without "
           "--nvmove-observe?");
    else if (!A.Load.empty() && !Fates.LoadRan)
      warn("no allocation was seen in " + A.Load.front() +
           ": did the command make the program load its data?");
    else if (!A.Load.empty() && Fates.DataWords.empty())
      warn("no variable leads to what " + A.Load.front() + " made");
  }

  void warn(const llvm::Twine &What) {
    Said.warning(What);
    Status = ExitIncomplete;
  }

  const Arguments &A;
  support::Diagnostics Said;
  std::map<std::string, observe::Observation> Programs; ///< By path.
  observe::Observation Seen;                            ///< Of the one that is meant.
  llvm::SmallString<128> Temporary;                     ///< The folder of what the processes write.
  int Status = ExitComplete;
};

} // namespace

int runObserve(const Arguments &A) { return Observing(A).run(); }

} // namespace nvmove::tool
