// One state: see Worker.h.
#include "crash/Worker.h"

#include "nvmove/inspect.h"

#include <cstring>
#include <dlfcn.h>

namespace nvmove::crash {
namespace {

struct FaultLines {
  char *Text;
  size_t Size;
};

void takeFault(void *Context, const char *Line) {
  auto *Into = static_cast<FaultLines *>(Context);
  if (!*Into->Text)
    snprintf(Into->Text, Into->Size, "%s", Line);
}

/// One that leads to a free block is the program's own (Dangling.h): a pointer that was moved wrongly
/// leads out of the pool, since bases are multiples of the pool's range.
void takePointer(void *Context, const nvm_bad_pointer *Bad) {
  if (!Bad->is_dangling)
    takeFault(Context, Bad->line);
}

/// A word as it was stored, and as it is in a pool that was opened at \p Base: the same pointer
/// when the pool has moved in between. Bases are multiples of the pool's range.
bool isMovedPointer(uint64_t Is, uint64_t Should, const char *File, uint64_t Span) {
  auto Base = reinterpret_cast<uint64_t>(File);
  return Should >> NVM_RANGE_SHIFT == NVM_RANGE_TAG && Is - Base <= Span && Is != Should &&
         (Is - Should) % Span == 0;
}

/// Byte of the line that is wrong; LineSize: none.
unsigned wrongByte(const char *File, uint64_t Span, const Wanted &W) {
  const char *Line = File + W.Line * LineSize;
  for (unsigned Word = 0; Word < LineSize; Word += 8) {
    uint64_t Is, Should;
    std::memcpy(&Is, Line + Word, sizeof Is);
    std::memcpy(&Should, W.Bytes + Word, sizeof Should);
    if (Is != Should && (W.Mask >> Word & 0xff) == 0xff && isMovedPointer(Is, Should, File, Span))
      continue;
    for (uint64_t Differ = Is ^ Should; Differ; Differ &= Differ - 1) {
      unsigned I = Word + static_cast<unsigned>(__builtin_ctzll(Differ)) / 8;
      if (W.Mask >> I & 1)
        return I;
    }
  }
  return LineSize;
}

/// One of the right states as a whole, as far as the image differs from it.
struct Against {
  const Wanted *Line = nullptr;
  unsigned Byte = 0;
  size_t Lines = 0;

  void look(const char *File, uint64_t Span, const Wanted &W) {
    unsigned Wrong = wrongByte(File, Span, W);
    if (Wrong != LineSize && !Lines++)
      Line = &W, Byte = Wrong;
  }
};

class Comparison {
public:
  Comparison(Task &T, NVM_POOL *Pool) : T(T), File(static_cast<const char *>(nvm_pool_base(Pool))) {
    nvm_info Info;
    Span = nvm_pool_info(Pool, &Info) == 0 ? Info.size_max : 1;
  }

  void run() {
    Against Same;
    for (size_t N = 0; N < T.Count && !Same.Lines; ++N)
      if (T.Lines[N].Mask)
        Same.look(File, Span, T.Lines[N]);
    if (Same.Lines) {
      auto Should = static_cast<unsigned char>(Same.Line->Bytes[Same.Byte]);
      wrong(Same, Should, Should);
      return;
    }
    for (size_t N = 0; N < T.GroupCount; ++N)
      if (!compareGroup(T.Groups[N].First, T.Groups[N].Count))
        return;
  }

private:
  /// It is nearest to one of the alternatives: what keeps it from that one is to blame. Of several
  /// that fit the one with most in it: what is not compared, because nothing is stored there, fits
  /// always.
  bool compareGroup(uint32_t First, uint32_t Count) {
    Against Near;
    for (uint32_t A = First + Count; A-- > First;) {
      const auto &Alternative = T.Alternatives[A];
      Against Now;
      for (uint32_t L = 0; L < Alternative.Count; ++L)
        Now.look(File, Span, T.AltLines[Alternative.First + L]);
      if (!Now.Lines) {
        if (Alternative.Newest != SIZE_MAX &&
            (T.Newest == SIZE_MAX || Alternative.Newest > T.Newest))
          T.Newest = Alternative.Newest;
        return true;
      }
      if (!Near.Lines || Now.Lines < Near.Lines)
        Near = Now;
    }
    if (!Near.Lines)
      return true;
    uint64_t Place = Near.Line->Line * LineSize + Near.Byte;
    wrong(Near, valueIn(First, Place), valueIn(First + Count - 1, Place));
    return false;
  }

  unsigned char valueIn(uint32_t Alternative, uint64_t Place) const {
    const auto &A = T.Alternatives[Alternative];
    for (uint32_t L = A.First; L < A.First + A.Count; ++L)
      if (T.AltLines[L].Line == Place / LineSize)
        return static_cast<unsigned char>(T.AltLines[L].Bytes[Place % LineSize]);
    return 0;
  }

  void wrong(const Against &Near, unsigned char Before, unsigned char After) {
    T.What = Verdict::Torn;
    T.Place = Near.Line->Line * LineSize + Near.Byte;
    T.Found = static_cast<unsigned char>(File[T.Place]);
    T.Before = Before;
    T.After = After;
  }

  Task &T;
  const char *File;
  uint64_t Span; ///< to which it may grow
};

} // namespace

Check loadChecker(const std::string &Path) {
  void *Library = Path.empty() ? nullptr : dlopen(Path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  return Library ? reinterpret_cast<Check>(dlsym(Library, "nvm_crash_check")) : nullptr;
}

void work(Task &T, Check Checker) {
  T.What = Verdict::Right;
  T.At = Task::Recovery;
  T.Newest = SIZE_MAX;
  *T.Message = 0;
  NVM_POOL *Pool = nvm_pool_open_foreign(T.Path);
  if (!Pool) {
    // Only the checker brings types along here: those of the program are not known.
    bool IsOfChecker = Checker && nvm_errno() == NVM_ELAYOUT;
    T.What = IsOfChecker ? Verdict::Refused : Verdict::NotRecovered;
    snprintf(T.Message, sizeof T.Message, "%s%s",
             IsOfChecker ? "the checker has other types: " : "", nvm_strerror());
    return;
  }
  FaultLines Faults{T.Message, sizeof T.Message};
  bool HasMoved = reinterpret_cast<uint64_t>(nvm_pool_base(Pool)) != T.Base;
  if (nvm_pool_verify(Pool, takeFault, &Faults) != 0 ||
      (HasMoved && nvm_pool_each_bad_pointer(Pool, takePointer, &Faults) != 0 && *Faults.Text))
    T.What = Verdict::Damaged;
  else
    Comparison(T, Pool).run();
  if (T.What == Verdict::Right && Checker) {
    T.At = Task::Checker;
    if (int Said = Checker(Pool); Said != 0) {
      T.What = Verdict::Refused;
      snprintf(T.Message, sizeof T.Message, "nvm_crash_check returned %d", Said);
    }
    T.At = Task::Recovery;
  }
  nvm_pool_close(Pool);
}

} // namespace nvmove::crash
