// Flexible arrays of a record: see Tails.h.
#include "Tails.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plugin {
namespace {

void dropInner(Words &All, const TypeLayout &Type) {
  uint64_t Last = 0;
  for (const Word &W : All)
    if (!W.isTail())
      Last = std::max<uint64_t>(Last, W.Layout.Offset + 1);
  llvm::erase_if(All, [&](const Word &W) {
    uint64_t Offset = W.Layout.Offset;
    return W.isTail() && (Offset + Type.Alignment <= Type.Size || Offset < Last);
  });
}

bool isPlain(const Words &Elements) {
  return llvm::all_of(Elements, [](const Word &W) { return W.Layout.Kind == NVM_FIELD_VOLATILE; });
}

/// Each word says of itself whether it is a pointer, whoever wrote it.
bool tellsItself(const Words &Elements) {
  return !Elements.empty() && llvm::all_of(Elements, [](const Word &W) {
    return W.Layout.Kind == NVM_FIELD_EITHER || W.Layout.Kind == NVM_FIELD_ADDRESS;
  });
}

bool isSame(const Word &A, const Word &B) {
  return A.Layout.Offset == B.Layout.Offset && A.Target == B.Target && A.Elements.empty() &&
         B.Elements.empty();
}

Word join(const Flattener &Flatten, const Words &Tails) {
  const Word *First = nullptr; // of those with pointers
  uint32_t Lowest = UINT32_MAX;
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

void settleTails(const Flattener &Flatten, Words &All, const TypeLayout &Type) {
  dropInner(All, Type);
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
