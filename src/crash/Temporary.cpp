// Files that go away: see Temporary.h.
#include "crash/Temporary.h"

#include <climits>
#include <cstring>
#include <iterator>
#include <unistd.h>

namespace nvmove::crash {
namespace {

constexpr const char *Ends[] = {"", ".image", ".output"};
constexpr size_t EndMax = 8; ///< bytes of the longest

/// What a handler can read: a path that is not empty is whole.
struct Remembered {
  char Path[PATH_MAX + EndMax];
  volatile size_t Length;
} All[4];

void removeFiles(Remembered &K) {
  for (const char *End : Ends) {
    std::memcpy(K.Path + K.Length, End, std::strlen(End) + 1);
    unlink(K.Path);
  }
}

} // namespace

void TemporaryTrace::set(const std::string &New) {
  Path = New;
  for (int I = 0; Slot < 0 && New.size() < PATH_MAX && I < int(std::size(All)); ++I)
    if (!All[I].Length) {
      Slot = I;
      std::memcpy(All[I].Path, New.data(), New.size());
      All[I].Length = New.size();
    }
}

void TemporaryTrace::keep() {
  if (Slot >= 0)
    All[Slot].Length = 0;
  Slot = -1;
  Path.clear();
}

TemporaryTrace::~TemporaryTrace() {
  for (const char *End : Ends)
    if (!Path.empty())
      unlink((Path + End).c_str());
  keep();
}

void removeTemporaries() {
  for (Remembered &K : All)
    if (K.Length)
      removeFiles(K);
}

} // namespace nvmove::crash
