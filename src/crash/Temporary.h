// Files that an exploration makes for itself: they go when it ends, however that is.
#pragma once

#include <string>

namespace nvmove::crash {

/// A trace, and the files beside it (FILE.image, FILE.output).
class TemporaryTrace {
public:
  TemporaryTrace() = default;
  ~TemporaryTrace();
  TemporaryTrace(const TemporaryTrace &) = delete;
  TemporaryTrace &operator=(const TemporaryTrace &) = delete;

  void set(const std::string &Path);
  /// They are worth their place.
  void keep();
  const std::string &path() const { return Path; }

private:
  std::string Path;
  int Slot = -1;
};

/// Those of all that live. May be called by the handler of a signal that ends the process.
void removeTemporaries();

} // namespace nvmove::crash
