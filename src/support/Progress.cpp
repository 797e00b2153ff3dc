// The progress line: see Progress.h.
#include "support/Progress.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace nvmove::support {

namespace {
constexpr std::chrono::milliseconds Patience(1000); // CONVENTIONS: only when over a second.
constexpr std::chrono::milliseconds Interval(100);  // More often only costs time.
constexpr size_t FallbackColumns = 80, BarColumns = 40;

size_t columns() {
  size_t Columns = llvm::sys::Process::StandardErrColumns();
  return Columns ? Columns : FallbackColumns;
}
} // namespace

Progress::Progress(size_t Total, bool Enabled)
    : Total(Total), Enabled(Enabled && llvm::sys::Process::StandardErrIsDisplayed()) {}

bool Progress::isDue() {
  Clock::time_point Now = Clock::now();
  if (!Enabled || Now - Start < Patience || Now - LastDraw < Interval)
    return false;
  LastDraw = Now;
  Shown = true;
  return true;
}

void Progress::draw(const std::string &Line) {
  llvm::errs() << "\r\033[K" << Line;
  llvm::errs().flush();
}

void Progress::step(llvm::StringRef Label) {
  std::lock_guard<std::mutex> Lock(Mutex);
  ++Done;
  if (!isDue())
    return;
  std::string Line = "[" + std::to_string(Done) + "/" + std::to_string(Total) + "] ";
  size_t Room = columns() - 1;
  if (Line.size() < Room)
    Line += Label.take_back(Room - Line.size());
  draw(Line);
}

void Progress::show(llvm::StringRef Label, uint64_t Part, uint64_t Whole) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!isDue())
    return;
  size_t Room = columns() - 1, Fixed = BarColumns + llvm::StringRef(" [] 100%").size();
  size_t Full = static_cast<size_t>(BarColumns * (double(Part) / double(Whole)));
  std::string Percent = std::to_string(static_cast<unsigned>(100 * (double(Part) / double(Whole))));
  std::string Line = Label.take_back(Room > Fixed ? Room - Fixed : 0).str();
  Line += " [" + std::string(Full, '#') + std::string(BarColumns - Full, ' ') + "] " +
          std::string(3 - Percent.size(), ' ') + Percent + "%";
  draw(Line.substr(0, Room));
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
