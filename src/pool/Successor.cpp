// By layout, by the map, by name: see Successor.h.
#include "pool/Successor.h"

#include "pool/Members.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::pool {

namespace {

bool has(llvm::ArrayRef<const nvm_type *> Types, uint64_t Id) {
  return llvm::any_of(Types, [&](const nvm_type *T) { return T->id == Id; });
}

/// One of them has changed: another one may have become what it was.
llvm::Error severalTypes(const nvm_type &Type, size_t InPool, size_t InProgram) {
  return llvm::createStringError(
      llvm::Twine(Type.name) + ": types of this name in several sources: " + llvm::Twine(InPool) +
      " in the pool, " + llvm::Twine(InProgram) +
      " in the program. If types of the same layout in both are the same type, say 'several: "
      "by-layout' for it in the map; else give them names of their own in the sources before you "
      "change them");
}

} // namespace

llvm::Expected<const nvm_type *> successorOf(const nvm_type &Type, const TypeChange *Change,
                                             const Layouts &Pool, const Layouts &Program) {
  std::string Name = Change ? Change->Name : std::string(Type.name);
  llvm::StringRef More = llvm::StringRef(Type.name).substr(recordOf(Type.name).size());
  if (recordOf(Name) == Name)
    Name += More;
  llvm::ArrayRef<const nvm_type *> Were = Pool.named(Type.name), Are = Program.named(Name);
  // A map that calls it otherwise is heard, unless it may mean a twin.
  llvm::ArrayRef<const nvm_type *> Alike = Program.named(Type.name);
  bool IsByLayout = Change && Change->IsByLayout;
  if (has(Alike, Type.id) && (Name == Type.name || Were.size() > 1)) {
    bool HasNew = llvm::any_of(Alike, [&](const nvm_type *T) { return !has(Were, T->id); });
    return HasNew && !IsByLayout ? severalTypes(Type, Were.size(), Alike.size())
                                 : llvm::Expected<const nvm_type *>(Program.find(Type.id));
  }
  for (llvm::StringRef Other : MoreBehind)
    if (Are.empty() && !More.empty()) // the program may have something else behind it now
      Are = Program.named((recordOf(Name) + Other).str());
  if (Are.empty() && Change)
    return llvm::createStringError("the map's " + Change->Name + " is not a type of the program");
  if (Are.empty())
    return &Type;
  llvm::SmallVector<const nvm_type *> Left;
  llvm::copy_if(Are, std::back_inserter(Left),
                [&](const nvm_type *T) { return !has(Were, T->id); });
  bool IsAlone = llvm::none_of(
      Were, [&](const nvm_type *T) { return T->id != Type.id && !has(Alike, T->id); });
  bool IsLeft = Left.size() == 1 && IsAlone;
  if (IsLeft && (Were.size() == 1 || IsByLayout))
    return Left[0];
  if (IsLeft)
    return severalTypes(Type, Were.size(), Are.size());
  return llvm::createStringError(llvm::Twine(Type.name) + ": the pool has " +
                                 llvm::Twine(Were.size()) + " types of this name, the program " +
                                 llvm::Twine(Are.size()) +
                                 ", and no layout tells which of them becomes which; give them "
                                 "names of their own in the sources before you change them");
}

} // namespace nvmove::pool
