// Which member of a type as the pool has it goes where in the type as the program has it.
#pragma once

#include "pool/FieldMap.h"
#include "pool/Members.h"

#include <map>

namespace nvmove::pool {

/// A record that lies in a record, or in the element of an array: where it begins in both.
struct RecordPair {
  std::string Name; ///< in the program, "head.link"
  uint64_t From, To;
};

/// Values that differ in shape: integers that are wider, arrays that are longer, in any of their
/// dimensions. Whether what is narrower is enough, each value says.
struct MemberPair {
  Member From, To;
  std::string Name; ///< in the program, "pairs[].key"
  bool MayCut = false;
  std::vector<MemberPair> Inner;   ///< of each element of an array of records or unions
  std::vector<RecordPair> Records; ///< the same
  bool HasInner = false; ///< whether both have such elements: perhaps with no member in common
};

struct Constant {
  Member To;
  int64_t Value;
};

struct TypePlan {
  const nvm_type *Old = nullptr, *New = nullptr;
  bool IsSame = false; ///< both are the same type; nothing else is known then
  std::vector<MemberPair> Pairs;
  std::vector<RecordPair> Records;
  std::vector<Constant> Constants;
  std::vector<std::string> Notes; ///< what is new or given up
  bool HasTail = false;           ///< the last pair is of a flexible array
  bool EndsInArray = false;       ///< of the old type: a block has one object
};

/// An error names all that nobody has decided. \p Change may be null.
llvm::Expected<TypePlan> planType(const nvm_type &Old, const nvm_type &New,
                                  const TypeChange *Change);

/// The element of \p To whose indices are those of element \p N of \p From; none: there is none.
std::optional<uint64_t> elementIn(const Member &From, const Member &To, uint64_t N);

/// Where an offset in an object of the old type lies in one of the new type; none: in what is given
/// up. \p Deep: of a number there, not of a record that begins with it. Where several records begin, which
/// lie apart in the new type, none is meant for sure.
std::optional<uint64_t> placeIn(const std::vector<MemberPair> &Pairs,
                                const std::vector<RecordPair> &Records, uint64_t Offset, bool Deep);

/// "int" and not a record.
bool isScalar(const nvm_type &Type);

/// Fills an object from one of the old type. An error names the field whose value does not fit.
llvm::Error convertRecord(const std::vector<MemberPair> &Pairs, const char *From, char *To);
/// The same for \p Count elements of the flexible array at the end.
llvm::Error convertTail(const MemberPair &Tail, const char *From, char *To, uint64_t Count);
/// Sets an integer.
bool storeInteger(const Member &M, char *At, __int128 Value);

} // namespace nvmove::pool
