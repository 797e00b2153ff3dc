// nvmove's commands but for those that read C sources. These are in a program of their own,
// nvmove-sources, which is linked with Clang: it takes 20 ms to load, and a process that has it is slow to
// fork.
#include "nvmove/Commands.h"

#include "support/Diagnostics.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace nvmove::tool {

namespace {

/// nvmove-sources of this installation, or of this build tree.
std::string sourcesProgram() {
  std::string Own = llvm::sys::fs::getMainExecutable("nvmove", reinterpret_cast<void *>(&run));
  llvm::StringRef Root = llvm::sys::path::parent_path(llvm::sys::path::parent_path(Own));
  std::string Found;
  for (llvm::StringRef Libraries : {NVMOVE_LIBDIR, "lib"}) {
    llvm::SmallString<256> Path(Root);
    llvm::sys::path::append(Path, Libraries, "nvmove", "nvmove-sources");
    Found = std::string(Path);
    if (llvm::sys::fs::exists(Found))
      break;
  }
  return Found;
}

/// Becomes nvmove-sources, with the same words. Returns only if that fails.
int runSources(const Arguments &A, char **Words) {
  std::string Program = sourcesProgram();
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  if (getenv(PartOf)) { // started as nvmove-sources
    D.error("'" + llvm::sys::fs::getMainExecutable("nvmove", nullptr) +
            "' stands where nvmove-sources should be; install nvmove again");
    return ExitUsage;
  }
  if (llvm::sys::path::is_relative(Program)) {
    D.error("nvmove cannot find its own folder: /proc is not mounted");
    return ExitUsage;
  }
  setenv(PartOf, NVMOVE_VERSION, 1);
  execv(Program.c_str(), Words);
  std::string Why = std::strerror(errno);
  D.error("'" + Program + "' cannot be started: " + Why);
  D.note("it is a part of nvmove; install nvmove again");
  return ExitUsage;
}

} // namespace

int run(const Arguments &A, char **Words) {
  switch (A.What) {
  case Command::Scan:
  case Command::Suggest:
  case Command::Plan:
  case Command::Move:
  case Command::Estimate:
  case Command::EmitFacts:
  case Command::DumpFacts:
    return runSources(A, Words);
  case Command::Observe:
    return runObserve(A);
  case Command::Crash:
    return runCrash(A);
  case Command::Pool:
    return runPool(A);
  case Command::Stat:
    return runStat(A);
  }
  return ExitInternal;
}

} // namespace nvmove::tool
