// The parallel driver over record(): see Scanner.h.
#include "scan/Scanner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/thread.h"

#include <atomic>
#include <csignal>
#include <optional>

namespace nvmove::scan {

namespace {

/// Reserved, not used, unless a source nests deeply; a long else-if chain recurses once a link.
constexpr unsigned StackBytes = 128u << 20;
/// Room for a signal handler that runs when that stack is used up.
constexpr size_t SignalStackBytes = 64u << 10;

/// Lets the crash recovery handlers run on a stack of their own: a stack overflow leaves them none.
void useSignalStacks() {
  struct sigaction Action;
  for (int Signal : {SIGSEGV, SIGBUS})
    if (!sigaction(Signal, nullptr, &Action)) {
      Action.sa_flags |= SA_ONSTACK;
      sigaction(Signal, &Action, nullptr);
    }
}

/// The calling thread's signal stack, unless it has one (a sanitizer's).
class SignalStack {
public:
  SignalStack() : Memory(SignalStackBytes) {
    stack_t Before;
    if (sigaltstack(nullptr, &Before) || !(Before.ss_flags & SS_DISABLE))
      return;
    stack_t Own = {};
    Own.ss_sp = Memory.data();
    Own.ss_size = Memory.size();
    Set = !sigaltstack(&Own, nullptr);
  }
  ~SignalStack() {
    stack_t None = {};
    None.ss_flags = SS_DISABLE;
    if (Set)
      sigaltstack(&None, nullptr);
  }

private:
  std::vector<char> Memory;
  bool Set = false;
};

struct Outcome {
  std::optional<facts::TranslationUnit> Unit;
  std::optional<FailedUnit> Failed;
  std::vector<std::string> Inputs;
  bool FromCache = false;
};

/// Whatever the answer depends on, nobody may write there.
std::vector<std::string> inputsOf(Recording &R) {
  R.Inputs.insert(R.Inputs.end(), R.Present.begin(), R.Present.end());
  return std::move(R.Inputs);
}

Outcome failed(const CompileCommand &Command, std::string Why, std::string Diagnostics = "") {
  Outcome O;
  O.Failed = FailedUnit{Command.File, std::move(Why), std::move(Diagnostics)};
  return O;
}

Outcome scanOne(const CompileCommand &Command, FactsCache *Cache) {
  if (!llvm::sys::fs::exists(Command.File))
    return failed(Command, "no such file");
  if (llvm::sys::fs::is_directory(Command.File))
    return failed(Command, "a folder, not a source file; name it with -p");
  if (!llvm::sys::fs::is_regular_file(Command.File))
    return failed(Command, "a device or a pipe, not a source file");
  Outcome O;
  if (std::optional<Remembered> Known = Cache ? Cache->lookup(Command) : std::nullopt) {
    O.Unit = std::move(Known->Unit);
    O.Inputs = std::move(Known->Inputs);
    O.FromCache = true;
    return O;
  }
  llvm::Expected<Recording> R = record(Command);
  if (!R) {
    std::string Text = toString(R.takeError());
    llvm::StringRef Why = llvm::StringRef(Text).trim();
    Why.consume_front(Command.File);
    Why.consume_front(": ");
    Why.consume_front("error: ");
    auto [First, Rest] = Why.split('\n');
    return failed(Command, First.str(), Rest.str());
  }
  if (R->Errors) {
    O = failed(Command,
               "does not compile (" + std::to_string(R->Errors) +
                   (R->Errors == 1 ? " error)" : " errors)"),
               std::move(R->Diagnostics));
    O.Inputs = inputsOf(*R);
    return O;
  }
  if (Cache)
    Cache->store(Command, *R);
  O.Unit = std::move(R->Unit);
  O.Inputs = inputsOf(*R);
  return O;
}

} // namespace

Scanned scanUnits(llvm::ArrayRef<CompileCommand> Commands, const ScannerOptions &Options) {
  llvm::CrashRecoveryContext::Enable();
  useSignalStacks();
  std::vector<Outcome> Outcomes(Commands.size());
  std::atomic<size_t> Next{0};
  auto Work = [&] {
    SignalStack Stack;
    for (size_t I; (I = Next++) < Commands.size();) {
      llvm::CrashRecoveryContext Recovery;
      if (!Recovery.RunSafely([&] { Outcomes[I] = scanOne(Commands[I], Options.Cache); }))
        Outcomes[I] = failed(Commands[I], "the compiler crashed on it");
      if (Options.OnDone)
        Options.OnDone(Commands[I].File);
    }
  };
  std::vector<llvm::thread> Workers;
  size_t Threads = std::min<size_t>(std::max(1u, Options.Threads), Commands.size());
  Workers.reserve(Threads);
  for (size_t I = 0; I < Threads; ++I)
    Workers.emplace_back(std::optional<unsigned>(StackBytes), Work);
  for (llvm::thread &Worker : Workers)
    Worker.join();
  llvm::CrashRecoveryContext::Disable();

  Scanned Result;
  for (Outcome &O : Outcomes) {
    if (O.Unit)
      Result.Units.push_back(std::move(*O.Unit));
    if (O.Failed)
      Result.Failed.push_back(std::move(*O.Failed));
    Result.Inputs.insert(O.Inputs.begin(), O.Inputs.end());
    Result.FromCache += O.FromCache;
  }
  return Result;
}

} // namespace nvmove::scan
