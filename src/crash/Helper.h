// Processes that an exploration starts to judge: each in a group of its own, which ends with it.
#pragma once

#include <chrono>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/types.h>

namespace nvmove::crash {

constexpr std::chrono::milliseconds TimeMax(5000); ///< that one may take for a state

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline deadline() { return std::chrono::steady_clock::now() + TimeMax; }
/// As poll(), until then, whatever signals come meanwhile.
int pollUntil(pollfd *Files, size_t Count, Deadline Until);

/// In a child that fork() made: it has a group of its own, which Ctrl-C on a terminal does not
/// reach, and ends when its parent does.
void becomeHelper();

/// The group of \p Leader is ended by killHelpers() while this lives, and by its destructor.
class HelperGroup {
public:
  explicit HelperGroup(pid_t Leader);
  ~HelperGroup();
  HelperGroup(const HelperGroup &) = delete;
  HelperGroup &operator=(const HelperGroup &) = delete;

private:
  pid_t Leader;
};

/// All of those that run. May be called by the handler of a signal.
void killHelpers();

/// While it lives, what a helper leaves behind, as a daemon, becomes a child of this process, and
/// ends with the helper.
class Strays {
public:
  Strays();
  ~Strays();
  Strays(const Strays &) = delete;
  Strays &operator=(const Strays &) = delete;
};

/// Ends the children of this process that came since there are Strays, and lead no HelperGroup.
void killStrays();

/// What a process prints: the beginning is kept, the rest is read and forgotten.
class Printed {
public:
  Printed();
  ~Printed();
  Printed(const Printed &) = delete;
  Printed &operator=(const Printed &) = delete;

  int into() const { return Into; } ///< to write to
  int from() const { return From; } ///< readable when there is something to take
  /// In a child: stdout and stderr go there.
  void redirect() const;
  void take();
  /// Forgets what there was.
  void clear() { Text.clear(); }
  /// Empty, or ": " and the first line.
  std::string told() const;

private:
  int From = -1, Into = -1;
  std::string Text;
};

/// Whether this child has ended; it still is to be waited for.
bool hasEnded(pid_t Child);

/// How a process ended.
struct End {
  bool Hung = false; ///< it took longer, and was ended
  int Status = 0;    ///< as wait() gives it
};

/// Waits for \p Child, the leader of \p Group; what of that is left then is ended, and strays.
End awaitEnd(pid_t Child, std::optional<HelperGroup> &Group, Printed &Said);

} // namespace nvmove::crash
