// Kills a program, starts it again, compares: see Life.h.
#include "move/Life.h"

#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <sys/wait.h>

namespace nvmove::move {

namespace {

constexpr unsigned RecordsLog2 = 5;   ///< a death inside comes within so many records
constexpr unsigned RecoverySteps = 6; ///< one in recovery within so many steps
constexpr unsigned RecoveryEvery = 3; ///< one start of so many is killed

bool wasKilled(int Status) {
  constexpr int ByShell = 128 + SIGKILL;
  return (WIFSIGNALED(Status) && WTERMSIG(Status) == SIGKILL) ||
         (WIFEXITED(Status) && WEXITSTATUS(Status) == ByShell);
}

/// The program itself, or what it is a tool of.
std::optional<int> endOf(const Running &Program, const Answer &A) {
  return Program.isTool() && A.hasFailed() ? A.Command : A.Status;
}

std::string describe(int Status) {
  return WIFSIGNALED(Status) ? "signal " + std::to_string(WTERMSIG(Status))
                             : "status " + std::to_string(WEXITSTATUS(Status));
}

/// Programs are killed here, machines are not: no commit waits for a disk, unless it is asked for.
std::string domain() {
  const char *Asked = std::getenv("NVMOVE_DOMAIN");
  return Asked && *Asked ? Asked : "process";
}

} // namespace

void Life::tell() const {
  S.Tell(Made.Method + ": " + std::to_string(Made.Survived) + " kills survived");
}

void Life::lose(const std::string &When, const std::string &What, const std::string &Expected,
                const std::string &Got) {
  Program.reset();
  Made.Lost = Difference{When, What, Expected, Got, takeErrors(S)};
}

llvm::Error Life::start(const std::string &KillAt, const std::string &Debug) {
  Program.reset();
  Launch L = S.Program;
  L.Variables = {{"NVMOVE_POOL", S.Pool},     {"NVMOVE_METHOD", Made.Method},
                 {"NVMOVE_DOMAIN", domain()}, {"NVMOVE_KILL_AT", KillAt},
                 {"NVMOVE_DEBUG", Debug},     {"NVMOVE_STATS", ""}};
  llvm::Expected<std::unique_ptr<Running>> Began = Running::start(L);
  if (!Began)
    return Began.takeError();
  Program = std::move(*Began);
  return Program->started().Interrupted ? failed("interrupted") : llvm::Error::success();
}

llvm::Error Life::begin() {
  if (llvm::Error E = prepareLife(S, S.Ported))
    return E;
  if (llvm::Error E = start(""))
    return E;
  if (std::optional<int> Ended = Program->started().Status)
    lose("at its first start", "it ended (" + describe(*Ended) + ")", "it runs", "");
  return llvm::Error::success();
}

/// After a kill. Some recoveries are killed as well.
llvm::Error Life::restart() {
  bool Killed = !S.Program.Command.empty() && below(RecoveryEvery) == 0;
  if (llvm::Error E = start(Killed ? "recover:" + std::to_string(1 + below(RecoverySteps)) : ""))
    return E;
  std::optional<int> Ended = Program->started().Status;
  if (Killed && Ended && wasKilled(*Ended)) {
    ++Made.InRecovery, ++Made.Survived;
    if (llvm::Error E = start(""))
      return E;
    Ended = Program->started().Status;
  }
  if (!Ended && !Program->isTool())
    Made.Starts.push_back(Program->started().Seconds);
  return llvm::Error::success();
}

bool Life::isWhole(size_t Step, const Answer &A) const {
  const std::optional<std::string> &Whole = Known.Answers[Step];
  if (S.Workload[Step].IsCommand) // a client may end well without an answer
    return A.Command && !*A.Command && (!Whole || A.Text == *Whole);
  return Whole && !Whole->empty() && A.Text == *Whole;
}

/// What a program that has just been started again knows.
llvm::Error Life::expect(const std::string &When, size_t Step, bool Acknowledged, State &Found) {
  Found = State::Wrong;
  if (std::optional<int> Ended = Program->started().Status) {
    lose(When, "it ends when it is started again (" + describe(*Ended) + ")", "it runs", "");
    return llvm::Error::success();
  }
  Answer Last;
  std::optional<std::string> Text = askState(S, *Program, Last);
  if (Last.Interrupted)
    return failed("interrupted");
  if (!Text) {
    lose(When, "it ends when it is asked (" + describe(*Last.Status) + ")", "it runs", "");
    return llvm::Error::success();
  }
  const std::string &Before = Known.States[Step], &Behind = Known.States[Step + 1];
  if (*Text == Behind)
    Found = !Acknowledged && Before == Behind ? State::Before : State::Behind;
  else if (*Text == Before && !Acknowledged)
    Found = State::Before;
  else
    lose(When,
         *Text == Before ? "lost what it had acknowledged"
         : Acknowledged  ? "the data differ"
                         : "is neither as before the step nor as after it (a step is one request)",
         Behind, *Text);
  return llvm::Error::success();
}

/// The program was killed in \p Step. A step that it does not know of is done again.
llvm::Error Life::survive(const std::string &When, size_t Step, bool Acknowledged) {
  if (llvm::Error E = restart())
    return E;
  State Found;
  if (llvm::Error E = expect(When, Step, Acknowledged, Found))
    return E;
  if (Found == State::Wrong)
    return llvm::Error::success();
  ++Made.Survived;
  tell();
  if (Known.AskOnce) {
    IsAsked = true;
    return llvm::Error::success();
  }
  return Found == State::Before ? perform(Step, false) : llvm::Error::success();
}

llvm::Error Life::perform(size_t Step, bool CompareAnswer) {
  Answer A = Program->perform(S.Workload[Step]);
  if (A.Interrupted)
    return failed("interrupted");
  std::string When = "at " + nameOf(S, Step);
  const std::optional<std::string> &Right = Known.Answers[Step];
  if (std::optional<int> Ended = endOf(*Program, A))
    lose(When, "it ended (" + describe(*Ended) + ")", Right.value_or(""), A.Text);
  else if (A.hasFailed())
    lose(When, "the command failed (" + describe(*A.Command) + ")", Right.value_or(""), A.Text);
  else if (CompareAnswer && Right && A.Text != *Right)
    lose(When, "it answers otherwise, without any kill", *Right, A.Text);
  return llvm::Error::success();
}

llvm::Error Life::killWithin(size_t Step) {
  std::uniform_real_distribution<double> Part(0, 1);
  Answer A = Program->performKilled(S.Workload[Step], Known.Seconds[Step] * Part(Random));
  if (A.Interrupted)
    return failed("interrupted");
  if (Program->isTool() && A.Command) // it was faster
    return llvm::Error::success();
  return survive("killed within " + nameOf(S, Step), Step, isWhole(Step, A));
}

llvm::Error Life::killAround(size_t Step, bool Within) {
  if (Within)
    return killWithin(Step);
  if (llvm::Error E = perform(Step, false))
    return E;
  if (isOver())
    return llvm::Error::success();
  Program->kill();
  return survive("killed after " + nameOf(S, Step), Step, true);
}

llvm::Error Life::runKilled(unsigned Kills) {
  if (llvm::Error E = begin())
    return E;
  size_t Steps = S.Workload.size(), Done = 0, Only = below(Steps);
  bool Odd = below(2);
  for (size_t I = 0; I < Steps && !isOver(); ++I) {
    bool Kill = Known.AskOnce ? I == Only : Done < Kills && (I + 1) * Kills >= (Done + 1) * Steps;
    Done += Kill;
    Odd ^= Kill;
    // A tool does not live between its steps.
    if (llvm::Error E = Kill ? killAround(I, Odd || Program->isTool()) : perform(I, !Done))
      return E;
  }
  Program.reset();
  return llvm::Error::success();
}

llvm::Error Life::runKilledInside(unsigned Kills) {
  if (llvm::Error E = begin())
    return E;
  bool Armed = false;
  for (size_t I = 0; I < S.Workload.size() && !isOver(); ++I) {
    if (Kills && (!Armed || Program->isTool())) {
      uint64_t Record = 1 + below(uint64_t(1) << below(RecordsLog2));
      if (llvm::Error E = start("append:" + std::to_string(Record)))
        return E;
      Armed = true;
    }
    bool Died = Program->started().Status.has_value(); // in the start
    Answer A = Died ? Program->started() : Program->perform(S.Workload[I]);
    if (A.Interrupted)
      return failed("interrupted");
    std::optional<int> Ended = endOf(*Program, A);
    if (!Ended)
      continue;
    std::string When = "killed inside of the library, at " + nameOf(S, I);
    if (!wasKilled(*Ended) || !Kills) {
      lose("at " + nameOf(S, I), "it ended (" + describe(*Ended) + ")", "it runs", A.Text);
      break;
    }
    --Kills, ++Made.Inside;
    Armed = false;
    if (llvm::Error E = survive(When, I, !Died && isWhole(I, A)))
      return E;
  }
  Program.reset();
  return llvm::Error::success();
}

llvm::Error Life::lookForRoots(std::string &Said) {
  if (llvm::Error E = prepareLife(S, S.Ported))
    return E;
  if (llvm::Error E = start("", "roots"))
    return E;
  for (size_t I = 0; I < S.Workload.size() && !Program->started().Status; ++I)
    if (Answer A = Program->perform(S.Workload[I]); A.Interrupted)
      return failed("interrupted");
    else if (endOf(*Program, A))
      break;
  Program->end();
  Said = takeErrors(S);
  return llvm::Error::success();
}

llvm::Error Life::runToEnd() {
  if (llvm::Error E = begin())
    return E;
  for (size_t I = 0; I < S.Workload.size() && !isOver(); ++I)
    if (llvm::Error E = perform(I, true))
      return E;
  if (isOver())
    return llvm::Error::success();
  if (!llvm::sys::fs::exists(S.Pool))
    return failed("the ported program made no pool: does --run start what --build makes, and does "
                  "it call the function of --load?\n" +
                  takeErrors(S));
  Program->end();
  if (llvm::Error E = start(""))
    return E;
  State Found;
  if (llvm::Error E = expect("after a regular end", S.Workload.size() - 1, true, Found))
    return E;
  if (Made.Lost && (!Known.Ended || Made.Lost->Got != *Known.Ended))
    Made.AfterEnd = Made.Lost;
  Made.Lost.reset();
  Program.reset();
  return llvm::Error::success();
}

} // namespace nvmove::move
