// Runs the unchanged program: see Reference.h.
#include "move/Reference.h"

#include "support/Trees.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <sys/wait.h>

namespace nvmove::move {

namespace {

constexpr size_t ErrorsShown = 8; ///< lines
constexpr size_t StepsAskedOnceMax = 200;

std::string howEnded(int Status) {
  return WIFSIGNALED(Status) ? "was ended by signal " + std::to_string(WTERMSIG(Status))
                             : "ended with status " + std::to_string(WEXITSTATUS(Status));
}

/// A program that runs, and has not said anything wrong so far.
llvm::Expected<std::unique_ptr<Running>> startPlain(const Settings &S, Verdict &V) {
  llvm::Expected<std::unique_ptr<Running>> Program = Running::start(S.Program);
  if (!Program)
    return Program.takeError();
  const Answer &Start = (*Program)->started();
  if (Start.Interrupted)
    return failed("interrupted");
  if (Start.Status)
    return failed("--run " + S.Program.Command + ": the unchanged program " +
                  howEnded(*Start.Status) +
                  " before the first step; does it need the folder of "
                  "the source, other arguments, or --terminal?\n" +
                  takeErrors(S));
  if (Start.TookTooLong && V.PlainStarts.empty()) // told once
    V.Notes.push_back("the program never waits: each step takes the longest time (--step-seconds)");
  if (!(*Program)->isTool())
    V.PlainStarts.push_back(Start.Seconds);
  return Program;
}

llvm::Expected<Answer> performPlain(const Settings &S, Running &Program, size_t I) {
  Answer A = Program.perform(S.Workload[I]);
  if (A.Interrupted)
    return failed("interrupted");
  if (A.Status)
    return failed(nameOf(S, I) + ": the unchanged program " + howEnded(*A.Status) +
                  "; a workload leaves it running\n" + takeErrors(S));
  if (A.hasFailed())
    return failed(nameOf(S, I) + ": the command " + howEnded(*A.Command) +
                  " with the unchanged program\n" + takeErrors(S));
  return A;
}

llvm::Error askPlain(const Settings &S, Running &Program, std::string &State) {
  Answer Last;
  std::optional<std::string> Text = askState(S, Program, Last);
  if (Last.Interrupted)
    return failed("interrupted");
  if (!Text)
    return failed(S.CheckName + ": the unchanged program " + howEnded(*Last.Status) +
                  " when it was asked; a check leaves it running\n" + takeErrors(S));
  State = std::move(*Text);
  return llvm::Error::success();
}

using Program = std::unique_ptr<Running>;

/// The program in a life of its own, behind \p Steps steps. \p Behind is called before the first one, and
/// behind each.
llvm::Expected<Program> runPlain(const Settings &S, size_t Steps, Reference &Made, Verdict &V,
                                 llvm::function_ref<llvm::Error(Running &)> Behind) {
  if (llvm::Error E = prepareLife(S, S.Plain))
    return std::move(E);
  llvm::Expected<Program> Own = startPlain(S, V);
  if (!Own)
    return Own.takeError();
  for (size_t I = 0;; ++I) {
    if (llvm::Error E = Behind(**Own))
      return std::move(E);
    if (I == Steps)
      return Own;
    llvm::Expected<Answer> A = performPlain(S, **Own, I);
    if (!A)
      return A.takeError();
    Made.Answers.push_back(A->Text);
    Made.Seconds.push_back(A->Seconds);
  }
}

llvm::Error askNothing(Running &) { return llvm::Error::success(); }

/// The state behind \p Steps steps, of a life that is asked then alone, and whether it is the same when it
/// is asked again.
llvm::Error askOnce(const Settings &S, size_t Steps, Reference &Made, Verdict &V,
                    std::string &State, bool &Stays) {
  llvm::Expected<Program> Own = runPlain(S, Steps, Made, V, askNothing);
  if (!Own)
    return Own.takeError();
  std::string Again;
  if (llvm::Error E = askPlain(S, **Own, State))
    return E;
  if (llvm::Error E = askPlain(S, **Own, Again))
    return E;
  Stays = State == Again;
  return llvm::Error::success();
}

/// The check changes the data: each state is that of a life of its own.
llvm::Error askEachOnce(const Settings &S, Reference &Made, Verdict &V) {
  if (S.Workload.size() > StepsAskedOnceMax)
    return failed(S.CheckName + ": the check changes the data, which is slow to compare: at most " +
                  std::to_string(StepsAskedOnceMax) + " steps are possible then");
  Reference Ignored;
  bool Stays;
  for (size_t I = 0; I <= S.Workload.size(); ++I)
    if (llvm::Error E = askOnce(S, I, Ignored, V, Made.States[I], Stays))
      return E;
  std::string Again;
  if (llvm::Error E = askOnce(S, S.Workload.size(), Ignored, V, Again, Stays))
    return E;
  if (Again != Made.States.back())
    return failed(S.CheckName +
                  ": two runs of the unchanged program do not give the same answers; "
                  "a check prints the data alone (no times, no process numbers). The "
                  "first run:\n" +
                  Made.States.back() + "the second one:\n" + Again);
  Made.AskOnce = true;
  V.Notes.push_back("the check changes the data, so that there is one kill in the life of a pool");
  return llvm::Error::success();
}

/// What the program knows when it is started once more.
llvm::Error startAgain(const Settings &S, Verdict &V, std::string &Known) {
  llvm::Expected<Program> Again = startPlain(S, V);
  return Again ? askPlain(S, **Again, Known) : Again.takeError();
}

/// Whether the unchanged program knows less once it was killed, or has ended.
llvm::Error endPlain(const Settings &S, Reference &Made, Verdict &V) {
  std::string Known;
  for (bool Killed : {true, false}) {
    Reference Ignored;
    llvm::Expected<Program> Own = runPlain(S, S.Workload.size(), Ignored, V, askNothing);
    if (!Own)
      return Own.takeError();
    Killed ? (*Own)->kill() : (*Own)->end();
    Own->reset();
    if (llvm::Error E = startAgain(S, V, Known))
      return E;
    if (Killed)
      V.PlainLoses = Known != Made.States.back();
  }
  if (Known != Made.States.front())
    Made.Ended = Known;
  return llvm::Error::success();
}

/// Steps behind which the check says what it said before them.
void noteUnseen(const Settings &S, const Reference &Made, Verdict &V) {
  size_t Count = 0, First = 0;
  for (size_t I = S.Workload.size(); I-- > 0;)
    if (Made.States[I] == Made.States[I + 1])
      ++Count, First = I;
  if (Count)
    V.Notes.push_back(std::to_string(Count) + " of " + std::to_string(S.Workload.size()) +
                      " steps change nothing that the check shows, so that a loss of what they do "
                      "is not seen; the first is " +
                      nameOf(S, First));
}

} // namespace

llvm::Error prepareLife(const Settings &S, const std::string &Tree) {
  llvm::sys::fs::remove(S.Pool);
  llvm::sys::fs::remove(S.Program.Errors);
  return support::copyTree(Tree, S.Program.Folder);
}

std::optional<std::string> askState(const Settings &S, Running &Program, Answer &Last) {
  std::string Text;
  for (const Step &Each : S.Check) {
    Last = Program.perform(Each);
    if (Last.Interrupted || Last.Status)
      return std::nullopt;
    Text += Last.Text;
    if (Last.hasFailed())
      Text += "[" + Each.Text + ": " + howEnded(*Last.Command) + "]\n";
  }
  return Text;
}

std::string nameOf(const Settings &S, size_t Step) {
  const move::Step &Own = S.Workload[Step];
  return "step " + std::to_string(Step + 1) + " (" + S.WorkloadName + ":" +
         std::to_string(Own.Line) + ": " + Own.Text + ")";
}

std::string takeErrors(const Settings &S) {
  auto Read = llvm::MemoryBuffer::getFile(S.Program.Errors, false, false);
  std::vector<std::string> All, Ours;
  if (Read)
    for (llvm::StringRef Line : llvm::split((*Read)->getBuffer(), '\n'))
      if (!Line.empty()) {
        All.push_back(Line.str());
        if (Line.starts_with("nvmove: "))
          Ours.push_back(Line.str());
      }
  llvm::sys::fs::remove(S.Program.Errors);
  const std::vector<std::string> &Shown = Ours.empty() ? All : Ours;
  size_t First = Shown.size() > ErrorsShown ? Shown.size() - ErrorsShown : 0;
  return llvm::join(Shown.begin() + static_cast<std::ptrdiff_t>(First), Shown.end(), "\n");
}

llvm::Expected<Reference> makeReference(const Settings &S, Verdict &V) {
  Reference Made, Again;
  auto Ask = [&](Running &Own) { return askPlain(S, Own, Made.States.emplace_back()); };
  if (llvm::Expected<Program> Own = runPlain(S, S.Workload.size(), Made, V, Ask); !Own)
    return Own.takeError();
  std::string Last;
  bool Stays;
  if (llvm::Error E = askOnce(S, S.Workload.size(), Again, V, Last, Stays))
    return std::move(E);
  if (!Stays || Made.States.back() != Last)
    if (llvm::Error E = askEachOnce(S, Made, V))
      return std::move(E);
  if (llvm::all_of(Made.States, [&](auto &State) { return State == Made.States.front(); }))
    return failed(S.CheckName +
                  ": the answers are the same before the workload and after each of "
                  "its steps, so that no kill could show a loss" +
                  (S.Program.Terminal ? "" : " (a program that answers late needs --terminal)") +
                  "; they were:\n" + Made.States.back());
  noteUnseen(S, Made, V);
  for (size_t I = 0; I < Made.Answers.size(); ++I)
    if (Made.Answers[I] != Again.Answers[I])
      Made.Answers[I].reset();
  if (llvm::Error E = endPlain(S, Made, V))
    return std::move(E);
  return Made;
}

} // namespace nvmove::move
