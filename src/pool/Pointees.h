// What the pointers of a pool lead to, by the types of their fields in the pool and in the program.
#pragma once

#include "pool/FieldMap.h"
#include "pool/Layouts.h"
#include "pool/Starts.h"

#include "nvmove/convert.h"

#include <map>
#include <set>
#include <tuple>

namespace nvmove::pool {

class Pointees {
public:
  Pointees(const Layouts &Pool, const Layouts &Program, const FieldMap &Map)
      : Pool(Pool), Program(Program), Map(Map) {}

  /// The program's, or one of a type that stays as it is.
  const nvm_type *typeOf(uint64_t Id) const {
    const nvm_type *Type = Program.find(Id);
    return Type ? Type : Pool.find(Id);
  }

  /// Empty, or why what the pool's field leads to is not what the program's leads to, which is a field of \p In.
  std::string mismatch(const nvm_field &Was, const nvm_field &Is, const nvm_type &In);
  /// Of a type that is the same in both: it names what its pointers lead to, and does not describe it.
  void compare(const nvm_type &Was, const nvm_type &Is);

  /// Of a word of the new pool, once all types are compared.
  const Pointee &of(const nvm_word &Word) const;

private:
  Pointee find(const nvm_word &Word) const;
  std::string wasCalled(const nvm_type &Type) const;

  const Layouts &Pool, &Program;
  const FieldMap &Map;
  using Place = std::tuple<uint64_t, uint32_t, std::string, uint64_t>;
  /// A field's type, offset, name and target: in the program and in the new pool.
  static Place placeOf(const nvm_type *In, const nvm_field &Field, uint64_t Target) {
    return {In ? In->id : 0, Field.offset, Field.name, Target};
  }
  std::set<Place> Changed; ///< of the program, whose targets have another layout than the pool's
  mutable std::map<const nvm_field *, Pointee> Known; ///< of those that were asked for
  std::map<Place, uint64_t> Were; ///< of the program, which may lead to anything: the pool's target
};

} // namespace nvmove::pool
