// Signals the way a careful tool treats them: what whoever started it ignores stays ignored (nohup, a
// shell's background), and Ctrl-C leaves no half of a file.
#pragma once

namespace nvmove::support {

/// Makes SIGINT, SIGTERM and SIGHUP remove unfinished files (Files.h) and end the process with status 130,
/// and notes which signals are ignored. First in main().
void installInterruptHandler();

/// Has \p Handler, or SIG_DFL, take \p Signal, unless the process was started with it ignored.
void setSignal(int Signal, void (*Handler)(int));

} // namespace nvmove::support
