// What pointers lead to: see Pointees.h.
#include "pool/Pointees.h"

#include "pool/Plan.h"

namespace nvmove::pool {

std::string Pointees::wasCalled(const nvm_type &Type) const {
  return Map.wasCalled(elementOf(Type));
}

std::string Pointees::mismatch(const nvm_field &Was, const nvm_field &Is, const nvm_type &In) {
  if (Was.target && Is.target && Was.target != Is.target)
    Changed.insert(placeOf(&In, Is, Is.target));
  if (Was.target && !Is.target)
    Were[placeOf(&In, Is, 0)] = Was.target;
  const nvm_type *Then = Pool.find(Was.target), *Now = typeOf(Is.target);
  Then = Then ? Then : Program.find(Was.target);
  if (!Then || !Now || Then->id == Now->id || wasCalled(*Now) == elementOf(*Then))
    return "";                           // void *, or a type whose own plan says what changes
  if (scalarOf(*Then) && scalarOf(*Now)) // a number in a record that changes, too
    return "";
  return "leads to " + std::string(Then->name) + " in the pool's, to " + Now->name +
         " in the program's";
}

void Pointees::compare(const nvm_type &Was, const nvm_type &Is) {
  for (uint32_t I = 0; I < Was.field_count && I < Is.field_count; ++I) {
    const nvm_field &Then = Was.fields[I], &Now = Is.fields[I];
    mismatch(Then, Now, Is);
    const nvm_type *Old = Pool.find(Then.target), *New = typeOf(Now.target);
    bool IsTail = Then.kind == NVM_FIELD_FLEXIBLE_ARRAY && Then.target != Was.id;
    if (IsTail && Then.target == Now.target && Old && New)
      compare(*Old, *New); // its elements
  }
}

const Pointee &Pointees::of(const nvm_word &Word) const {
  auto [At, IsNew] = Known.try_emplace(Word.field);
  if (IsNew)
    At->second = find(Word);
  return At->second;
}

Pointee Pointees::find(const nvm_word &Word) const {
  const nvm_field &Field = *Word.field;
  Place At = placeOf(Word.type, Field, Field.target);
  auto Then = Were.find(At);
  uint64_t Target = Then == Were.end() ? Field.target : Then->second;
  Pointee Wanted;
  Wanted.IsAnything = !Target;
  if (const nvm_type *Type = Target ? typeOf(Target) : nullptr) {
    Wanted.Type = Field.target ? wasCalled(*Type) : elementOf(*Type);
    Wanted.Number = scalarOf(*Type);
    Wanted.Now = Type;
    Wanted.Changes = Changed.count(At) != 0;
  }
  return Wanted;
}

} // namespace nvmove::pool
