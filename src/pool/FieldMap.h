// What a person says about a pool whose types have changed (docs/guide/operations.md, "A changed
// program"): names that are others now, what may be lost, what new fields hold.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nvmove::pool {

struct FieldChange {
  std::string Name;  ///< in the program
  std::string Was;   ///< in the pool; empty: it is new
  int64_t Value = 0; ///< of a new one
};

struct TypeChange {
  /// What blocks have behind the record: bytes of their own, or more elements of its last array.
  enum Behind { Open, OfRecord, OfArray };
  std::string Name; ///< in the program
  std::string Was;  ///< in the pool; empty: the same
  std::vector<FieldChange> Fields;
  std::vector<std::string> Drop;         ///< the pool's fields that are given up
  std::vector<std::string> Cut;          ///< fields whose values may lose what does not fit
  std::vector<std::string> Ends, Begins; ///< pointers: to ends of arrays, or to what begins there
  Behind More = Open;
  bool changesMembers() const { return !(Fields.empty() && Drop.empty() && Cut.empty()); }
  /// Of several types of this name, those with the same layout in both are the same.
  bool IsByLayout = false;
};

struct FieldMap {
  /// Words of unions and of blocks without type that look like addresses in the pool.
  enum Undecided { Refuse, Pointers, Numbers } Words = Refuse;
  std::vector<TypeChange> Types;

  /// Of a type of the program or of the pool, whose blocks may have more behind it; null: nothing is said.
  const TypeChange *find(llvm::StringRef Program) const;
  const TypeChange *findWas(llvm::StringRef Pool) const;
  /// What the program's type is called in the pool.
  std::string wasCalled(llvm::StringRef Program) const;
};

/// Whether one of the names is the field's. Those of fields in arrays may have "[]" in it, or not.
bool names(const std::vector<std::string> &All, llvm::StringRef Field);

/// An error shows the line.
llvm::Expected<FieldMap> readFieldMap(llvm::StringRef Path);

} // namespace nvmove::pool
