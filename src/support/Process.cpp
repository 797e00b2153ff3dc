// Facts about the running process: see Process.h.
#include "support/Process.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/thread.h"

#include <sys/resource.h>

namespace nvmove::support {

uint64_t peakMemoryBytes() {
  struct rusage Usage;
  if (getrusage(RUSAGE_SELF, &Usage))
    return 0;
  return static_cast<uint64_t>(Usage.ru_maxrss) * 1024; // Linux counts in KiB.
}

unsigned threadCount(unsigned Requested) {
  if (Requested)
    return Requested;
  return llvm::hardware_concurrency().compute_thread_count();
}

void onDeepStack(llvm::function_ref<void()> Work) {
  constexpr unsigned Bytes = 256u << 20;
  llvm::thread Deep(std::optional<unsigned>(Bytes), [&] { Work(); });
  Deep.join();
}

std::string executableIdentity() {
  llvm::sys::fs::file_status Status;
  if (llvm::sys::fs::status("/proc/self/exe", Status))
    return "";
  return std::to_string(Status.getSize()) + "-" +
         std::to_string(Status.getLastModificationTime().time_since_epoch().count());
}

} // namespace nvmove::support
