// What a process knows of itself: its memory, its threads, its own executable.
#pragma once

#include <cstdint>
#include <string>

namespace nvmove::support {

/// The most resident memory this process ever had, in bytes.
uint64_t peakMemoryBytes();

/// Threads for -j: \p Requested, or one for each processor this process may use when 0.
unsigned threadCount(unsigned Requested);

/// Changes whenever this executable is replaced by another one (size and time of its file), so
/// that what an older build cached is not taken for this one's.
std::string executableIdentity();

} // namespace nvmove::support
