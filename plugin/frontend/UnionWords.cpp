// Words of unions: see UnionWords.h.
#include "frontend/UnionWords.h"

namespace nvmove::plugin {

void UnionWords::put(const Word &W, size_t Member) {
  UnionPlace &Place = At[W.Layout.Offset];
  Place.Alternatives.push_back(W);
  Place.Members.insert(Member);
}

void UnionWords::add(const Word &W, size_t Member) {
  Word One = W;
  One.Layout.Count = 1;
  for (uint64_t N = 0; N < W.Layout.Count; ++N) {
    put(One, Member);
    One.Layout.Offset += W.Layout.Stride;
    if (One.Layout.When && One.Layout.When->Follows)
      One.Layout.When->Offset += W.Layout.Stride;
  }
}

void UnionWords::addBelow(const Word &Tail, const Words &Elements, uint64_t End, size_t Member) {
  for (uint64_t From = Tail.Layout.Offset; From < End; From += Tail.Layout.Stride)
    for (Word W : Elements) {
      uint64_t Count = W.Layout.Kind == NVM_FIELD_VOLATILE ? 0 : W.Layout.Count;
      uint64_t Place = From + W.Layout.Offset;
      W.Layout.Name = Tail.Layout.Name;
      W.Layout.Count = 1;
      if (W.Layout.When && !W.tellsItself())
        W.Layout.Kind = NVM_FIELD_UNION;
      W.Layout.When.reset();
      for (uint64_t N = 0; N < Count && Place + sizeof(void *) <= End; ++N) {
        W.Layout.Offset = Place;
        put(W, Member);
        Place += W.Layout.Stride;
      }
    }
}

void VolatileBytes::add(const Word &W) {
  for (uint64_t N = 0; N < W.Layout.Count; ++N)
    Seen.insert(W.Layout.Offset + N * W.Layout.Stride);
}

void VolatileBytes::remove(uint64_t Place, uint64_t Count) {
  Seen.erase(Seen.lower_bound(Place), Seen.lower_bound(Place + Count));
}

void VolatileBytes::meet(uint64_t Place, uint64_t Count, const VolatileBytes &Own) {
  for (auto At = Seen.lower_bound(Place); At != Seen.end() && *At < Place + Count;)
    At = Own.Seen.count(*At) ? std::next(At) : Seen.erase(At);
}

std::vector<std::pair<uint64_t, uint64_t>> VolatileBytes::ranges() const {
  std::vector<std::pair<uint64_t, uint64_t>> Found;
  for (uint64_t Place : Seen)
    if (!Found.empty() && Found.back().first + Found.back().second == Place)
      ++Found.back().second;
    else
      Found.push_back({Place, 1});
  return Found;
}

} // namespace nvmove::plugin
