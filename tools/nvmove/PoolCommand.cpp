// nvmove pool: pools seen and kept from outside their programs.
#include "nvmove/PoolCommand.h"

#include "nvmove/Commands.h"
#include "nvmove/Next.h"

#include "crash/Shell.h"
#include "pool/Census.h"
#include "pool/Dump.h"
#include "support/Failed.h"
#include "support/Files.h"
#include "support/Progress.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace nvmove::tool {

using support::failed;

namespace {

/// How far a pass over the pool is, as long as nothing is printed.
class PassProgress {
public:
  PassProgress(const Arguments &A)
      : Label(A.Pool.Name + " " + A.Pool.Path),
        Line(0, A.Pool.What != PoolVerb::Dump || !llvm::sys::Process::StandardOutIsDisplayed()) {
    nvm_set_progress(listen, nullptr);
  }
  ~PassProgress() { nvm_set_progress(nullptr, nullptr); }

  void show(uint64_t Done, uint64_t Total) { Line.show(Label, Done, Total); }

private:
  static void listen(void *, uint64_t Done, uint64_t Total) { showProgress(Done, Total); }

  std::string Label;
  support::Progress Line;
};

std::optional<PassProgress> Shown;

} // namespace

void showProgress(uint64_t Done, uint64_t Total) {
  if (Shown)
    Shown->show(Done, Total);
}

llvm::Error print(const Arguments &A, llvm::function_ref<void(llvm::raw_ostream &)> Write) {
  if (A.Pool.What != PoolVerb::Dump)
    Shown.reset();
  if (!A.Output.empty())
    return support::writeFile(A.Output, Write);
  Write(llvm::outs());
  llvm::outs().flush();
  return llvm::Error::success();
}

void printJson(llvm::raw_ostream &OS, llvm::json::Value Value) {
  OS << llvm::formatv("{0:2}", Value) << '\n';
}

namespace {

llvm::Expected<int> info(const Arguments &A) {
  llvm::Expected<llvm::json::Object> Description = pool::describe(A.Pool.Path);
  if (!Description)
    return Description.takeError();
  if (llvm::Error E = print(A, [&](llvm::raw_ostream &OS) {
        if (A.Format == "json")
          printJson(OS, std::move(*Description));
        else
          pool::printDescription(OS, *Description);
      }))
    return std::move(E);
  return ExitComplete;
}

llvm::Expected<int> check(const Arguments &A) {
  llvm::Expected<pool::Findings> Found = pool::checkPool(A.Pool.Path, A.Pool.AsOpened);
  if (!Found)
    return Found.takeError();
  const std::vector<std::string> &Faults = Found->Faults;
  if (llvm::Error E = print(A, [&](llvm::raw_ostream &OS) {
        if (A.Format == "json") {
          printJson(OS, llvm::json::Object{{"schema_version", 1},
                                           {"path", A.Pool.Path},
                                           {"faults", llvm::json::Array(Faults)},
                                           {"in_garbage", Found->InGarbage},
                                           {"hints", llvm::json::Array(Found->Hints)}});
          return;
        }
        for (const std::string &Fault : Faults)
          OS << A.Pool.Path << ": " << Fault << '\n';
        for (const std::string &Hint : Found->Hints)
          OS << A.Pool.Path << ": hint: " << Hint
             << ": freed and given out again, or a cast (docs/guide/operations.md)\n";
        if (Found->InGarbage)
          OS << A.Pool.Path
             << ": wrong pointers in blocks that the root does not lead to: " << Found->InGarbage
             << ". These are no faults; 'nvmove pool gc' frees the blocks\n";
        OS << A.Pool.Path << ": " << (Faults.empty() ? "no" : std::to_string(Faults.size()))
           << (Faults.size() == 1 ? " fault\n" : " faults\n");
      }))
    return std::move(E);
  return Faults.empty() ? ExitComplete : ExitIncomplete;
}

llvm::Expected<int> leaks(const Arguments &A) {
  llvm::Expected<pool::OpenPool> Pool = pool::OpenPool::look(A.Pool.Path);
  if (!Pool)
    return Pool.takeError();
  llvm::Expected<pool::Census> Counted = pool::takeCensus(*Pool, /*Reach=*/true);
  if (!Counted)
    return Counted.takeError();
  if (llvm::Error E = print(A, [&](llvm::raw_ostream &OS) {
        if (A.Format == "json")
          printJson(OS, llvm::json::Object{{"schema_version", 1},
                                           {"path", A.Pool.Path},
                                           {"leaks", pool::tallyToJson(Counted->Garbage)}});
        else if (Counted->Garbage.empty())
          OS << A.Pool.Path << ": the root leads to every block\n";
        else
          pool::printTally(OS, Counted->Garbage);
      }))
    return std::move(E);
  return Counted->Garbage.empty() ? ExitComplete : ExitIncomplete;
}

llvm::Expected<int> collect(const Arguments &A) {
  llvm::Expected<pool::OpenPool> Pool = pool::OpenPool::change(A.Pool.Path);
  if (!Pool)
    return Pool.takeError();
  nvm_collected C;
  if (nvm_pool_collect(Pool->get(), &C))
    return pool::lastError();
  if (llvm::Error E = Pool->close())
    return std::move(E);
  if (llvm::Error E = print(A, [&](llvm::raw_ostream &OS) {
        if (A.Format == "json")
          printJson(OS, llvm::json::Object{{"schema_version", 1},
                                           {"path", A.Pool.Path},
                                           {"freed_blocks", C.freed_blocks},
                                           {"freed_bytes", C.freed_bytes},
                                           {"reachable_blocks", C.reachable_blocks},
                                           {"reachable_bytes", C.reachable_bytes}});
        else
          OS << A.Pool.Path << ": freed " << C.freed_blocks << " blocks, " << C.freed_bytes
             << " bytes; " << C.reachable_blocks << " blocks, " << C.reachable_bytes
             << " bytes stay\n";
      }))
    return std::move(E);
  return ExitComplete;
}

llvm::Expected<int> dump(const Arguments &A) {
  llvm::Expected<pool::OpenPool> Pool = pool::OpenPool::look(A.Pool.Path);
  if (!Pool)
    return Pool.takeError();
  if (!A.Pool.Type.empty())
    if (llvm::Error E = pool::checkType(*Pool, A.Pool.Type))
      return std::move(E);
  pool::DumpOptions Options;
  Options.Type = A.Pool.Type;
  Options.Form = A.Format == "json"    ? pool::DumpOptions::Json
                 : A.Format == "graph" ? pool::DumpOptions::Graph
                                       : pool::DumpOptions::Text;
  std::string Unknown;
  llvm::Error Inner = llvm::Error::success();
  if (llvm::Error E = print(A, [&](llvm::raw_ostream &OS) {
        Inner = llvm::joinErrors(std::move(Inner), pool::dump(OS, *Pool, Options, Unknown));
      }))
    return llvm::joinErrors(std::move(E), std::move(Inner));
  if (Inner)
    return std::move(Inner);
  if (!Unknown.empty())
    llvm::errs() << "nvmove: warning: " << Unknown << '\n';
  return ExitComplete;
}

llvm::Expected<int> resize(const Arguments &A) {
  llvm::Expected<pool::OpenPool> Pool = pool::OpenPool::change(A.Pool.Path);
  if (!Pool)
    return Pool.takeError();
  if (nvm_pool_resize(Pool->get(), A.Pool.Size))
    return pool::lastError();
  nvm_info Info;
  if (nvm_pool_info(Pool->get(), &Info))
    return pool::lastError();
  llvm::outs() << A.Pool.Path << ": " << Info.size << " bytes\n";
  if (llvm::Error E = Pool->close())
    return std::move(E);
  return ExitComplete;
}

llvm::Expected<int> create(const Arguments &A) {
  NVM_POOL *Pool = nvm_pool_create(A.Pool.Path.c_str(), A.Pool.Size);
  if (!Pool || nvm_pool_close(Pool))
    return pool::lastError();
  return ExitComplete;
}

/// Only what is a pool, and nobody's at the moment.
llvm::Expected<int> removePool(const Arguments &A) {
  const std::string &Path = A.Pool.Path;
  int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // nobody waits at a pipe
  if (File < 0)
    return failed(Path + ": " + strerror(errno));
  if (llvm::sys::fs::is_symlink_file(Path)) {
    close(File);
    return failed(Path + ": this is a symbolic link; name the file itself");
  }
  bool Busy = flock(File, LOCK_EX | LOCK_NB) != 0;
  uint64_t Magic = 0;
  bool IsPool = pread(File, &Magic, sizeof Magic, 0) == sizeof Magic && Magic == NVM_POOL_MAGIC;
  std::error_code Failure;
  if (!Busy && IsPool)
    Failure = llvm::sys::fs::remove(Path);
  close(File);
  if (Busy)
    return failed(Path + ": a process has the pool open; stop it first");
  if (!IsPool)
    return failed(Path + ": this is no pool of nvmove; remove it with rm if you mean it");
  if (Failure)
    return failed(Path + ": " + Failure.message());
  return ExitComplete;
}

bool changesFile(const PoolArguments &P) {
  return P.What == PoolVerb::Collect || P.What == PoolVerb::Resize || P.What == PoolVerb::Create ||
         P.What == PoolVerb::Remove || (P.What == PoolVerb::Repair && !P.DryRun);
}

/// NVMOVE_OPEN=copy is for programs, and means that the file stays as it is. What only looks does so
/// by itself, and makes files of its own.
llvm::Error heedSettings(Arguments &A) {
  const char *Open = std::getenv("NVMOVE_OPEN");
  if (!Open || llvm::StringRef(Open) != "copy")
    return llvm::Error::success();
  if (changesFile(A.Pool))
    return failed(A.Pool.Path + ": NVMOVE_OPEN=copy is set, and '" + A.Pool.Name +
                  "' changes the file; unset it");
  unsetenv("NVMOVE_OPEN");
  A.Pool.AsOpened = true;
  return llvm::Error::success();
}

bool isPool(const std::string &Path) {
  int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // nobody waits at a pipe
  uint64_t Magic = 0;
  bool Is =
      File >= 0 && pread(File, &Magic, sizeof Magic, 0) == sizeof Magic && Magic == NVM_POOL_MAGIC;
  if (File >= 0)
    close(File);
  return Is;
}

/// A report takes the place of the file that it is written to.
llvm::Error checkPoolOutput(const Arguments &A) {
  const PoolArguments &P = A.Pool;
  const char *Is = nullptr;
  if (A.Output.empty())
    return llvm::Error::success();
  for (const std::string &Other : {P.Path, P.Copy, P.Layouts, P.Map, P.Undo})
    if (!Other.empty() && (llvm::sys::fs::equivalent(A.Output, Other) ||
                           support::absolutePath(A.Output) == support::absolutePath(Other)))
      Is = "a file that the command reads or makes";
  if (isPool(A.Output))
    Is = "a pool";
  return Is ? failed(A.Output + ": this is " + Is + "; choose another for '--output'")
            : llvm::Error::success();
}

llvm::Expected<int> runVerb(Arguments A) {
  if (llvm::Error E = heedSettings(A))
    return std::move(E);
  if (llvm::Error E = checkPoolOutput(A))
    return std::move(E);
  switch (A.Pool.What) {
  case PoolVerb::Info:
    return info(A);
  case PoolVerb::Check:
    return check(A);
  case PoolVerb::Repair:
    return repairPool(A);
  case PoolVerb::Backup:
    return backUp(A);
  case PoolVerb::Convert:
    return convertPool(A);
  case PoolVerb::Leaks:
    return leaks(A);
  case PoolVerb::Collect:
    return collect(A);
  case PoolVerb::Dump:
    return dump(A);
  case PoolVerb::Resize:
    return resize(A);
  case PoolVerb::Create:
    return create(A);
  case PoolVerb::Remove:
    return removePool(A);
  }
  return ExitInternal;
}

/// Empty where nothing has to be done.
std::string nextAfterPool(const PoolArguments &P, int Status) {
  std::string Pool = crash::shellWord(P.Path), Copy = crash::shellWord(P.Copy);
  bool Found = Status == ExitIncomplete;
  switch (P.What) {
  case PoolVerb::Check:
    return Found ? "nvmove pool repair " + Pool + " --dry-run shows what can be mended" : "";
  case PoolVerb::Leaks:
    return Found ? "nvmove pool gc " + Pool + " frees them" : "";
  case PoolVerb::Backup:
    return "nvmove pool check " + Copy;
  case PoolVerb::Convert:
    return "nvmove pool check " + Copy + ", then start the new program with it";
  case PoolVerb::Create:
    return "start the program with it; NVMOVE_POOL=" + Pool + " names it to one with a port file";
  default:
    return "";
  }
}

} // namespace

int runPool(const Arguments &A) {
  Shown.emplace(A);
  llvm::Expected<int> Status = runVerb(A);
  Shown.reset();
  if (Status) {
    tellNext(A, nextAfterPool(A.Pool, *Status));
    return *Status;
  }
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  D.error(Status.takeError());
  return ExitUsage;
}

} // namespace nvmove::tool
