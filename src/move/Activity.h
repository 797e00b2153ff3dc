// What the processes below this one do, by /proc.
//
// Descendant: a process that this process has started, directly or not. A daemon, whose parent has
// ended, is one as well once adoptOrphans() was called.
//
// A program waits if each thread of it sleeps in a system call that waits for others (poll, read, a lock),
// and none has run between two looks. A thread in fsync(2) does not wait, nor a main thread in
// nanosleep(2): they go on by themselves. Another thread that sleeps so is not looked at.
#pragma once

#include <cstdint>
#include <set>
#include <sys/types.h>

namespace nvmove::move {

struct Activity {
  bool AllSleep = true;
  uint64_t Switches = 0; ///< how often their threads were given a processor
  /// Whether nothing has run since \p Before, which was looked at a moment ago.
  bool isSame(const Activity &Before) const {
    return AllSleep && Before.AllSleep && Switches == Before.Switches;
  }
};

/// Processes without a parent become children of this one.
void adoptOrphans();

std::set<pid_t> descendants();

Activity lookAt(const std::set<pid_t> &Processes);

/// Kills \p Processes with all that descends from them, and waits for their end, 10 s at most. Whether all
/// have ended.
bool killAll(std::set<pid_t> Processes);

/// The same of all descendants, those that begin meanwhile included.
bool killDescendants();

} // namespace nvmove::move
