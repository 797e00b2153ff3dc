// Flexible arrays of a record: see Tails.h.
#include "frontend/Tails.h"

#include "frontend/UnionWords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

bool areVolatile(const Words &Elements) {
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
    uint64_t Offset = W.Layout.Offset + static_cast<uint64_t>(W.Spilt.value_or(0));
    return W.isTail() && (Offset + Record.Alignment <= Record.End || (Offset < Last && !W.Spilt));
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

/// The record's own words stay what they are: all but those with a condition, which may be numbers.
/// What else the arrays lie over is undecided. \p Arrays are not empty.
Words layOver(const Flattener &Flatten, const Words &Own, const Words &Arrays, uint64_t End) {
  UnionWords Found, Kept;
  VolatileBytes Volatile;
  Words Made, Over;
  uint64_t First = Arrays.front().Layout.Offset;
  for (const Word &A : Arrays)
    First = std::min(First, A.Layout.Offset);
  for (const Word &W : Own) {
    bool IsVolatile = W.Layout.Kind == NVM_FIELD_VOLATILE, IsOver = endOf(W) > First;
    if (IsOver && IsVolatile)
      Volatile.add(W);
    else if (IsOver && W.Layout.When)
      Found.add(W, 0);
    else
      Made.push_back(W);
    if (IsOver && !IsVolatile && !W.Layout.When && !W.isTail())
      Kept.add(W, 0);
  }
  for (const Word &A : Arrays)
    Found.addBelow(A, Flatten.elements(A), End, 1);
  for (const auto &[Place, What] : Found.at()) {
    Volatile.remove(Place, sizeof(void *));
    if (!Kept.at().count(Place))
      llvm::append_range(Over, Flatten.decide(What.Alternatives, /*InAll=*/false, Place));
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

Word joinTails(const Flattener &Flatten, const Words &Tails) {
  const Word *First = nullptr; // of those with pointers
  uint64_t Lowest = UINT64_MAX;
  bool Same = true;
  for (const Word &W : Tails) {
    Words Elements = Flatten.elements(W);
    if (tellsItself(Elements))
      return W;
    Same &= isSame(W, Tails.front());
    if (areVolatile(Elements))
      continue;
    First = First ? First : &W;
    Lowest = std::min(Lowest, W.Layout.Offset);
  }
  if (Same)
    return Tails.front();
  return First ? Flatten.undecidedTail(Lowest, First->Layout.Name)
               : Flatten.plainTail(Tails.front().Layout.Offset, Tails.front().Layout.Name);
}

/// The same where there are too many words to look at each: all may be pointers, whatever else they
/// are.
Words giveUpFrom(const Flattener &Flatten, Words All, const Word &First, uint64_t End) {
  uint64_t Offset = First.Layout.Offset;
  llvm::erase_if(
      All, [&](const Word &W) { return W.Layout.Kind == NVM_FIELD_VOLATILE && endOf(W) > Offset; });
  Word Rest = Flatten.elements(Flatten.undecidedTail(0, "")).front();
  Rest.Layout.Name = First.Layout.Name;
  Rest.Layout.Offset = Offset;
  Rest.Layout.Count = (End - Offset) / sizeof(void *);
  All.push_back(Rest);
  return All;
}

/// Elements from that which reaches beyond \p End on.
Word restOf(const Word &Tail, Words Elements, uint64_t End) {
  Word Rest = Tail;
  Rest.Layout.Offset += (End - Tail.Layout.Offset) / Tail.Layout.Stride * Tail.Layout.Stride;
  Rest.Elements = std::move(Elements);
  return Rest;
}

/// Where words lie in a word of the memory, if all do at the same place; else none.
std::optional<uint64_t> placeInWord(const Word &Tail, const Words &Elements) {
  constexpr uint64_t Size = sizeof(void *);
  uint64_t Place = (Tail.Layout.Offset + Elements.front().Layout.Offset) % Size;
  bool Same = Tail.Layout.Stride % Size == 0 && llvm::all_of(Elements, [&](const Word &W) {
                return (Tail.Layout.Offset + W.Layout.Offset) % Size == Place &&
                       (W.Layout.Count == 1 || W.Layout.Stride % Size == 0);
              });
  return Same ? std::optional(Place) : std::nullopt;
}

} // namespace

Words layInnerOver(const Flattener &Flatten, Words All, const Extent &Record) {
  constexpr uint64_t OneByOne = 1 << 20; // bytes; more words would take the compiler long
  Words Arrays = takeInner(All, Record);
  llvm::erase_if(Arrays,
                 [&](const Word &W) { return W.Spilt || areVolatile(Flatten.elements(W)); });
  if (Arrays.empty())
    return All;
  if (Record.End - Arrays.front().Layout.Offset <= OneByOne)
    return layOver(Flatten, All, Arrays, Record.End);
  return giveUpFrom(Flatten, std::move(All), Arrays.front(), Record.End);
}

Words spill(const Flattener &Flatten, const Word &Tail, const Extent &Union) {
  if (Tail.Layout.Offset + Union.Alignment > Union.End)
    return {Tail};
  Words Elements = Flatten.elements(Tail);
  llvm::erase_if(Elements,
                 [](const Word &W) { return W.Layout.Kind == NVM_FIELD_VOLATILE || W.isTail(); });
  if (Elements.empty())
    return {};
  Word Rest;
  if (tellsItself(Elements)) {
    Rest = restOf(Tail, Elements, Union.End);
  } else if (std::optional<uint64_t> Place = placeInWord(Tail, Elements)) {
    uint64_t First = Tail.Layout.Offset + Elements.front().Layout.Offset;
    uint64_t From = std::max(First + sizeof(void *), Union.End + 1) - sizeof(void *);
    Rest = Flatten.undecidedTail(llvm::alignTo(From, sizeof(void *), *Place), Tail.Layout.Name);
  } else {
    for (Word &W : Elements) {
      W.Layout.Kind = NVM_FIELD_UNION;
      W.Layout.Tag = 0;
      W.Layout.When.reset();
      W.Target = QualType();
    }
    Rest = restOf(Tail, Elements, Union.End);
  }
  Rest.Spilt = static_cast<int64_t>(Union.End - Rest.Layout.Offset);
  return {Rest};
}

void decideTails(const Flattener &Flatten, Words &All, const TypeLayout &Type) {
  All = layInnerOver(Flatten, std::move(All), {Type.Size, Type.Alignment});
  Words Tails;
  llvm::copy_if(All, std::back_inserter(Tails), [](const Word &W) { return W.isTail(); });
  if (Tails.size() < 2)
    return;
  llvm::erase_if(All, [](const Word &W) { return W.isTail(); });
  All.push_back(joinTails(Flatten, Tails));
}

bool hasTail(const Words &All) {
  return llvm::any_of(All, [](const Word &W) { return W.isTail(); });
}

} // namespace nvmove::plugin
