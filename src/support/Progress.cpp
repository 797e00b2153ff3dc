// The progress line: see Progress.h.
#include "support/Progress.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace nvmove::support {

namespace {
constexpr std::chrono::milliseconds Patience(1000); // CONVENTIONS: only when over a second.
constexpr std::chrono::milliseconds Interval(100);  // More often only costs time.
constexpr size_t FallbackColumns = 80;
} // namespace

Progress::Progress(size_t Total, bool Enabled)
    : Total(Total), Enabled(Enabled && llvm::sys::Process::StandardErrIsDisplayed()) {}

void Progress::step(llvm::StringRef Label) {
  std::lock_guard<std::mutex> Lock(Mutex);
  ++Done;
  Clock::time_point Now = Clock::now();
  if (!Enabled || Now - Start < Patience || Now - LastDraw < Interval)
    return;
  LastDraw = Now;
  Shown = true;
  size_t Columns = llvm::sys::Process::StandardErrColumns();
  std::string Line = "[" + std::to_string(Done) + "/" + std::to_string(Total) + "] ";
  size_t Room = (Columns ? Columns : FallbackColumns) - 1;
  if (Line.size() < Room)
    Line += Label.take_back(Room - Line.size());
  llvm::errs() << "\r\033[K" << Line;
  llvm::errs().flush();
}

void Progress::finish() {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!Shown)
    return;
  llvm::errs() << "\r\033[K";
  llvm::errs().flush();
  Shown = false;
}

} // namespace nvmove::support
