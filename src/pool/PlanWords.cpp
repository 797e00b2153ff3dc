// Words of two layouts: see PlanWords.h.
#include "pool/PlanWords.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::pool {

namespace {

/// The member that has this bit, with its name in the whole, "pairs[].kind"; none: none has.
std::optional<Member> memberAt(const std::vector<Member> &Members, uint64_t Bit) {
  for (const Member &M : Members) {
    if (Bit < firstBit(M) || Bit >= endBit(M))
      continue;
    if (M.Inner.empty())
      return M;
    std::optional<Member> Found = memberAt(M.Inner, (Bit - firstBit(M)) % (M.Size * 8));
    if (Found)
      Found->Name = M.Name + "[]." + Found->Name;
    return Found;
  }
  return std::nullopt;
}

/// Of these kinds a value in the pool is translated, and another one stays as it is.
bool mayLeadIn(const nvm_field &F) {
  return F.kind == NVM_FIELD_POINTER || F.kind == NVM_FIELD_WEAK_POINTER ||
         F.kind == NVM_FIELD_EITHER || F.kind == NVM_FIELD_UNION;
}

/// Whether each of the values is one in both members: neither a sign nor a higher bit makes another one of it.
bool meanTheSame(llvm::ArrayRef<int64_t> Values, const Member &Was, const Member &Is) {
  if (Was.Kind == Is.Kind && Was.Size == Is.Size && Was.Bits == Is.Bits)
    return true;
  bool AreSigned = isSigned(Was.Kind) && isSigned(Is.Kind);
  int64_t Most = INT64_MAX >> (64 - std::min(bitsOf(Was), bitsOf(Is)));
  return llvm::all_of(Values,
                      [&](int64_t V) { return V <= Most && V >= (AreSigned ? -Most - 1 : 0); });
}

} // namespace

std::vector<WordField> wordsAt(const nvm_type &Type, uint64_t Offset,
                               llvm::function_ref<const nvm_type *(uint64_t)> Find, uint64_t Base) {
  std::vector<WordField> Found;
  for (const nvm_field &F : llvm::ArrayRef(Type.fields, Type.field_count)) {
    if (F.kind == NVM_FIELD_VOLATILE || Offset < F.offset)
      continue;
    uint64_t Inside = Offset - F.offset;
    if (F.kind == NVM_FIELD_FLEXIBLE_ARRAY) {
      const nvm_type *Element = F.target != Type.id ? Find(F.target) : nullptr;
      if (Element && Element->size)
        llvm::append_range(Found, wordsAt(*Element, Inside % Element->size, Find, Base + F.offset));
    } else if (F.stride ? Inside % F.stride == 0 && Inside / F.stride < F.count : !Inside) {
      Found.push_back({&F, &Type, Base});
    }
  }
  return Found;
}

bool isVolatile(const nvm_type &Type, uint64_t Offset) {
  return llvm::any_of(llvm::ArrayRef(Type.fields, Type.field_count), [&](const nvm_field &F) {
    uint64_t Inside = Offset - F.offset;
    return F.kind == NVM_FIELD_VOLATILE && Offset >= F.offset && Inside % F.stride == 0 &&
           Inside / F.stride < F.count;
  });
}

bool WordMatcher::isSameCondition(const WordField &Was, const WordField &Is,
                                  const Names &Successors) const {
  const nvm_when *Old = Was.Field->when, *New = Is.Field->when;
  if (!Old || !New)
    return Old == New;
  auto Then = memberAt(this->Old.Shape.Members, (Was.Base + Old->offset) * 8 + Old->first_bit),
       Now = memberAt(this->New.Shape.Members, (Is.Base + New->offset) * 8 + New->first_bit);
  if (!Then || !Now)
    return false;
  auto Successor = Successors.find(Then->Name);
  llvm::ArrayRef Values(Old->values, Old->count);
  return Successor != Successors.end() && Successor->second == Now->Name &&
         Old->unless == New->unless &&
         llvm::equal(Values, llvm::ArrayRef(New->values, New->count)) &&
         meanTheSame(Values, *Then, *Now);
}

std::string WordMatcher::mismatchOf(const WordField &Were, const WordField &Are) const {
  const nvm_field &Was = *Were.Field, &Is = *Are.Field;
  if (Was.kind != Is.kind && (Was.kind == NVM_FIELD_XOR || Is.kind == NVM_FIELD_XOR))
    return "is made of two pointers in one of them";
  if (Was.kind != Is.kind && !(mayLeadIn(Was) && mayLeadIn(Is)))
    return "is another kind of pointer, or marked as one";
  if (Was.tag != Is.tag)
    return "is a pointer with other bits that are no part of the address";
  if (Was.kind == NVM_FIELD_FUNCTION || Is.kind == NVM_FIELD_FUNCTION)
    return "";
  return All.Mismatch(Was, Is, *Are.Type);
}

std::string WordMatcher::mismatch(uint64_t From, uint64_t To, const Names &Successors) const {
  auto Were = wordsAt(Old.Type, From, All.Old), Are = wordsAt(New.Type, To, All.New);
  if (isVolatile(New.Type, To))
    return "";
  auto IsDecided = [](const WordField &W) {
    return !W.Field->when && W.Field->kind != NVM_FIELD_UNION;
  };
  if (Were.empty())
    return llvm::any_of(Are, IsDecided) ? "is a pointer in the program's, or marked as one" : "";
  if (Are.empty())
    return "is a pointer in the pool's, or marked as one";
  for (const WordField &Was : Were) {
    auto Is =
        llvm::find_if(Are, [&](const WordField &W) { return isSameCondition(Was, W, Successors); });
    if (Is == Are.end())
      return "is a pointer under another condition";
    if (std::string Why = mismatchOf(Was, *Is); !Why.empty())
      return Why;
    Are.erase(Is);
  }
  return Are.empty() ? "" : "is a pointer under another condition";
}

} // namespace nvmove::pool
