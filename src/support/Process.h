// What a process knows of itself: its memory, its threads, its own executable.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <string>

namespace nvmove::support {

/// The most resident memory this process ever had, in bytes.
uint64_t peakMemoryBytes();

/// Threads for -j: \p Requested, or one for each processor this process may use when 0.
unsigned threadCount(unsigned Requested);

/// Runs \p Work on a thread with a deep stack, to its end: for what recurses over a whole program.
/// Reserved address space costs nothing.
void onDeepStack(llvm::function_ref<void()> Work);

/// Changes whenever this executable is replaced by another one (size and time of its file), so
/// that what an older build cached is not taken for this one's.
std::string executableIdentity();

} // namespace nvmove::support
