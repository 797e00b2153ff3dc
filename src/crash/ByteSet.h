// A set of bytes of the pool's file.
#pragma once

#include "crash/Trace.h"

#include <algorithm>

namespace nvmove::crash {

class ByteSet {
public:
  void add(uint64_t Place, uint64_t Bytes) {
    each(Place, Bytes, [&](uint64_t Line, uint64_t Mask) { Masks[Line] |= Mask; });
  }
  bool hasAll(uint64_t Place, uint64_t Bytes) const {
    bool All = true;
    each(Place, Bytes, [&](uint64_t Line, uint64_t Mask) { All &= !(Mask & ~of(Line)); });
    return All;
  }
  bool hasAny(uint64_t Place, uint64_t Bytes) const {
    bool Any = false;
    each(Place, Bytes, [&](uint64_t Line, uint64_t Mask) { Any |= (Mask & of(Line)) != 0; });
    return Any;
  }
  void clear() { Masks.clear(); }

private:
  uint64_t of(uint64_t Line) const {
    auto Found = Masks.find(Line);
    return Found == Masks.end() ? 0 : Found->second;
  }
  template <class F> static void each(uint64_t Place, uint64_t Bytes, F Take) {
    for (uint64_t At = Place, End = Place + Bytes; At < End;) {
      uint64_t First = At % LineSize, Count = std::min(End - At, LineSize - First);
      uint64_t Ones = Count == LineSize ? ~uint64_t(0) : (uint64_t(1) << Count) - 1;
      Take(At / LineSize, Ones << First);
      At += Count;
    }
  }

  llvm::DenseMap<uint64_t, uint64_t> Masks;
};

} // namespace nvmove::crash
