// Which member of a type as the pool has it goes where in the type as the program has it.
#pragma once

#include "pool/FieldMap.h"
#include "pool/Members.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <set>

namespace nvmove::pool {

/// A record that lies in a record, or in the element of an array: where it begins in both.
struct PartPair {
  std::string Type;           ///< in the pool, "struct link"
  uint64_t From, FromSize;    ///< bytes
  std::optional<uint64_t> To; ///< none: it is given up
  uint64_t ToSize;
};

struct Constant {
  Member To;
  int64_t Value;
};

/// Values that differ in shape: integers that are wider, arrays that are longer, in any of their
/// dimensions. Whether what is narrower is enough, each value says.
struct MemberPair {
  Member From, To;
  std::string Name; ///< in the program, "pairs[].key"
  bool MayCut = false;
  bool IsSameType = true; ///< of elements that are records: else no pointer to one is right
  // Of each element of an array of records or unions.
  std::vector<MemberPair> Inner;
  std::vector<PartPair> Parts;
  std::vector<Constant> Constants;
  bool HasInner = false; ///< whether both have such elements: perhaps with no member in common
};

struct TypePlan {
  const nvm_type *Old = nullptr, *New = nullptr;
  bool IsSame = false; ///< both are the same type: its objects are copied
  std::vector<MemberPair> Pairs;
  std::vector<PartPair> Parts;
  std::vector<Constant> Constants;
  std::vector<std::string> Notes; ///< what is new or given up
  bool HasTail = false;           ///< the last pair is of a flexible array
  bool EndsInArray = false;       ///< of the old type: a block has one object
  /// Of the old type, whose blocks have more behind it: bytes that belong to no member, and are zero unless what is
  /// behind begins in them. It would be torn.
  uint64_t PaddingFrom = 0, PaddingSize = 0;
  bool GoesOn =
      false; ///< the last array goes on in these bytes: all zero and more behind is no array
};

/// What a plan asks about other types than its own.
struct Types {
  llvm::function_ref<const nvm_type *(uint64_t Id)> Old, New; ///< null: not known
  /// Empty, or why a pointer to what the one leads to cannot become one to what the other leads to, a field of \p In.
  llvm::function_ref<std::string(const nvm_field &Old, const nvm_field &New, const nvm_type &In)>
      Mismatch;
};

/// An error names all that nobody has decided. \p Used: what the map says of other types, and was heard.
llvm::Expected<TypePlan> planType(const nvm_type &Old, const nvm_type &New, const FieldMap &Map,
                                  const Types &All, std::set<const FieldChange *> &Used);

/// The element of \p To whose indices are those of element \p N of \p From; none: there is none.
std::optional<uint64_t> elementIn(const Member &From, const Member &To, uint64_t N);

/// The only member of a type that is no record, as of "int"; none: it is a record, or an array of records.
std::optional<Member> scalarOf(const nvm_type &Type);
/// "struct node" of "struct node[4]"; else the type itself.
std::string elementOf(const nvm_type &Type);

/// Fills an object from one of the old type. An error names the field whose value does not fit.
llvm::Error convertRecord(const std::vector<MemberPair> &Pairs, const char *From, char *To);
/// The same for \p Count elements of the flexible array at the end.
llvm::Error convertTail(const MemberPair &Tail, const char *From, char *To, uint64_t Count);
/// Sets the new members of a record to their values, and those of the elements of arrays in it.
void storeConstants(const std::vector<Constant> &Constants, const std::vector<MemberPair> &Pairs,
                    char *To);
/// Sets an integer.
bool storeInteger(const Member &M, char *At, __int128 Value);

} // namespace nvmove::pool
