// Stores of which nobody knows in which order they arrive: see Media.h.
#include "crash/Media.h"

#include <algorithm>
#include <cstring>

namespace nvmove::crash {

/// A copy, of which nobody knows in which order the compiler or the library stores it:
/// upwards or downwards. Between lines there is no order at all.
bool Media::storeCopy(uint64_t Place, llvm::StringRef Bytes, size_t Event) {
  bool Changed = false;
  for (size_t I = 0; I < Bytes.size();) {
    size_t Length = std::min<size_t>(LineSize - (Place + I) % LineSize, Bytes.size() - I);
    llvm::StringRef Part = Bytes.substr(I, Length);
    if (Raw && !InOrder)
      storeDownwards(Place + I, Part, Event);
    Changed |= store(Place + I, Part, Event);
    I += Length;
  }
  return Changed;
}

/// All but the last word that arrives: then store() begins anew.
void Media::storeDownwards(uint64_t Place, llvm::StringRef Bytes, size_t Event) {
  uint64_t Line = Place / LineSize;
  const std::array<char, LineSize> Old = lineAt(Line).Versions.back().Bytes;
  std::array<char, LineSize> Next = Old;
  size_t From = Place % LineSize, End = From + Bytes.size();
  auto Differs = [&](size_t Word, size_t To) {
    return std::memcmp(Old.data() + Word, Bytes.data() + (Word - From), To - Word) != 0;
  };
  size_t Lowest = End; // end of the first word that changes: it arrives last
  for (size_t At = From; At < End && Lowest == End; At = std::min(End, At / 8 * 8 + 8))
    if (size_t To = std::min(End, At / 8 * 8 + 8); Differs(At, To))
      Lowest = To;
  for (size_t To = End; To > Lowest;) {
    size_t At = std::max((To - 1) / 8 * 8, From);
    std::memcpy(Next.data() + At, Bytes.data() + (At - From), To - At);
    push(Line, Next, Event);
    To = At;
  }
}

/// What is streamed of any range; what it has no whole line of arrives word by word, in any order.
void Media::streamWords(const struct Event &E, size_t Index) {
  for (uint64_t I = 0; I < E.Bytes.size();) {
    uint64_t At = E.Place + I, Line = At / LineSize;
    size_t Length = std::min<size_t>(LineSize - At % LineSize, E.Bytes.size() - I);
    if (Length == LineSize)
      lineAt(Line).Streamed.Words.clear();
    if (Length == LineSize)
      stream(Line, E.Bytes.substr(I, LineSize), Index);
    else if (InOrder)
      store(At, E.Bytes.substr(I, Length), Index);
    for (size_t Done = 0; Length < LineSize && !InOrder && Done < Length;) {
      size_t In = (At + Done) % LineSize, Size = std::min(8 - In % 8, Length - Done);
      Burst::Word W{In, {}, Size, Index};
      std::memcpy(W.Bytes.data(), E.Bytes.data() + I + Done, Size);
      streamWord(Line, E.Thread, W);
      Done += Size;
    }
    await(Line, E.Thread);
    I += Length;
  }
}

/// Each alone, all of them, and all but one: all such where there are few. Of what is put in behind
/// another version the event is that of the first word that the other one lacks.
void Media::streamWord(uint64_t Line, unsigned Thread, const Burst::Word &W) {
  constexpr size_t FewWords = 4;
  Burst &B = lineAt(Line).Streamed;
  if (B.Words.empty() || B.Thread != Thread)
    B = {Thread, lineAt(Line).Versions.back().Bytes, {}};
  B.Words.push_back(W);
  size_t Count = B.Words.size();
  auto Push = [&](size_t Only, size_t Without, size_t Event) {
    std::array<char, LineSize> Next = B.Before;
    for (size_t I = 0; I < Count; ++I)
      if ((Only >= Count || I == Only) && I != Without)
        std::memcpy(Next.data() + B.Words[I].At, B.Words[I].Bytes.data(), B.Words[I].Size);
    push(Line, Next, Event);
  };
  size_t Lacking = W.Event;
  if (Count > 1) {
    Push(Count - 1, Count, Lacking);
    Lacking = B.Words[0].Event;
  }
  for (size_t I = 0; Count > 2 && I + 1 < Count && (!I || Count <= FewWords); ++I) {
    Push(Count, I, Lacking);
    Lacking = B.Words[I].Event;
  }
  Push(Count, Count, Lacking);
}

} // namespace nvmove::crash
