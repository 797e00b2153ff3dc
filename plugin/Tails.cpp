// Flexible arrays of a record: see Tails.h.
#include "Tails.h"

#include "UnionWords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace nvmove::plugin {
namespace {

bool isPlain(const Words &Elements) {
  return llvm::all_of(Elements, [](const Word &W) { return W.Layout.Kind == NVM_FIELD_VOLATILE; });
}

/// Each word says of itself whether it is a pointer, whoever wrote it.
bool tellsItself(const Words &Elements) {
  return !Elements.empty() && llvm::all_of(Elements, [](const Word &W) { return W.tellsItself(); });
}

/// Takes out the arrays behind which other members begin.
Words takeInner(Words &All, const Extent &Record) {
  uint64_t Last = 0;
  for (const Word &W : All)
    if (!W.isTail())
      Last = std::max(Last, W.Layout.Offset + 1);
  auto IsInner = [&](const Word &W) {
    uint64_t Offset = W.Layout.Offset;
    return W.isTail() && (Offset + Record.Alignment <= Record.End || Offset < Last);
  };
  Words Taken;
  llvm::copy_if(All, std::back_inserter(Taken), IsInner);
  llvm::erase_if(All, IsInner);
  return Taken;
}

uint64_t endOf(const Word &W) {
  uint64_t Width = W.Layout.Kind == NVM_FIELD_VOLATILE ? 1 : sizeof(void *);
  return W.Layout.Offset + (W.Layout.Count - 1) * W.Layout.Stride + Width;
}

/// Neighbours that are the same become one array again; \p All: by place.
Words joined(Words All) {
  Words Made;
  for (Word &W : All) {
    FieldLayout *Before = Made.empty() ? nullptr : &Made.back().Layout;
    const FieldLayout &L = W.Layout;
    if (Before && Before->Kind == L.Kind && Made.back().Target == W.Target &&
        Before->Tag == L.Tag && Before->Name == L.Name && !Before->When && !L.When &&
        Before->Stride == sizeof(void *) && L.Count == 1 &&
        Before->Offset + Before->Count * Before->Stride == L.Offset)
      ++Before->Count;
    else
      Made.push_back(std::move(W));
  }
  return Made;
}

/// The record's own words and the arrays' as those of a union; \p Arrays are not empty.
Words layOver(const Flattener &Flatten, const Words &Own, const Words &Arrays, uint64_t End) {
  UnionWords Found;
  VolatileBytes Volatile;
  Words Made, Over;
  size_t Member = 0;
  auto Covering = [&](uint64_t Place) {
    return 1 + llvm::count_if(
                   Arrays, [&](const Word &A) { return A.Layout.Offset < Place + sizeof(void *); });
  };
  for (const Word &W : Own)
    if (W.isTail() || Covering(endOf(W) - sizeof(void *)) == 1)
      Made.push_back(W);
    else if (W.Layout.Kind == NVM_FIELD_VOLATILE)
      Volatile.add(W);
    else
      Found.add(W, Member);
  for (const Word &A : Arrays)
    Found.addBelow(A, Flatten.elements(A), End, ++Member);
  for (const auto &[Place, What] : Found.at()) {
    bool InAll = What.Members.size() == static_cast<size_t>(Covering(Place));
    Volatile.remove(Place, sizeof(void *));
    llvm::append_range(Over, Flatten.decide(What.Alternatives, InAll, Place));
  }
  llvm::append_range(Made, joined(std::move(Over)));
  for (auto [Place, Count] : Volatile.ranges())
    Made.push_back(Flatten.volatileBytes(Arrays.front().Layout.Name, Place, Count));
  return Made;
}

bool isSame(const Word &A, const Word &B) {
  return A.Layout.Offset == B.Layout.Offset && A.Target == B.Target && A.Elements.empty() &&
         B.Elements.empty();
}

Word join(const Flattener &Flatten, const Words &Tails) {
  const Word *First = nullptr; // of those with pointers
  uint64_t Lowest = UINT64_MAX;
  bool Same = true;
  for (const Word &W : Tails) {
    Words Elements = Flatten.elements(W);
    if (tellsItself(Elements))
      return W;
    Same &= isSame(W, Tails.front());
    if (isPlain(Elements))
      continue;
    First = First ? First : &W;
    Lowest = std::min(Lowest, W.Layout.Offset);
  }
  if (Same)
    return Tails.front();
  return First ? Flatten.undecidedTail(Lowest, First->Layout.Name)
               : Flatten.plainTail(Tails.front().Layout.Offset, Tails.front().Layout.Name);
}

} // namespace

Words layInnerOver(const Flattener &Flatten, Words All, const Extent &Record) {
  Words Arrays = takeInner(All, Record);
  llvm::erase_if(Arrays, [&](const Word &W) { return W.Spilt || isPlain(Flatten.elements(W)); });
  return Arrays.empty() ? All : layOver(Flatten, All, Arrays, Record.End);
}

Words spill(const Flattener &Flatten, const Word &Tail, const Extent &Union) {
  uint64_t Offset = Tail.Layout.Offset;
  if (Offset + Union.Alignment > Union.End)
    return {Tail};
  Words Elements = Flatten.elements(Tail);
  if (isPlain(Elements))
    return {};
  Word Rest = Flatten.undecidedTail(llvm::alignTo(Union.End, sizeof(void *)), Tail.Layout.Name);
  if (tellsItself(Elements) && (Rest.Layout.Offset - Offset) % Tail.Layout.Stride == 0) {
    Rest = Tail;
    Rest.Layout.Offset = llvm::alignTo(Union.End, sizeof(void *));
  }
  Rest.Spilt = true;
  return {Rest};
}

void settleTails(const Flattener &Flatten, Words &All, const TypeLayout &Type) {
  All = layInnerOver(Flatten, std::move(All), {Type.Size, Type.Alignment});
  Words Tails;
  llvm::copy_if(All, std::back_inserter(Tails), [](const Word &W) { return W.isTail(); });
  if (Tails.size() < 2)
    return;
  llvm::erase_if(All, [](const Word &W) { return W.isTail(); });
  All.push_back(join(Flatten, Tails));
}

bool hasTail(const Words &All) {
  return llvm::any_of(All, [](const Word &W) { return W.isTail(); });
}

} // namespace nvmove::plugin
