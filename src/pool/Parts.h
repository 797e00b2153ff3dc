// Records inside of records, in two layouts of a type: which becomes which.
#pragma once

#include "pool/Plan.h"

namespace nvmove::pool {

/// A record whose members are matched: the type itself, or the element of an array in it.
struct Level {
  const std::vector<Member> &Members;
  const std::vector<Part> &Parts;
  std::string Type;   ///< "struct pair"; empty: it has no name
  uint64_t Base;      ///< of the record, in the whole type: bytes
  std::string Prefix; ///< "pairs[]."
  /// Of an element: types around the array that are not the whole type, and what stands there before the names of
  /// the members, "m[].".
  std::vector<std::pair<std::string, std::string>> Outer = {};
};

/// A type around a member that is not the whole type.
struct Context {
  std::string Type;
  std::string Prefix; ///< in this type before the level's names, "m[]."
  std::string Name;   ///< of the member behind that, "link.next"
};

/// The outermost first.
std::vector<Context> contextsOf(const Member &M, const Level &In);

/// Of the elements of an array.
Level elementsOf(const Member &Array, const Level &In);

/// Whether the part has the member, and what that is called there: "next" for "head.link.next" in "head.link".
std::optional<std::string> nameIn(const Part &P, const Member &M);

/// The base classes that have the member, from the outermost to the innermost, "B1/A"; empty: the class itself has
/// it. The names are those of the pool.
std::string ownerOf(const Member &M, const Level &In, const FieldMap &Map, bool IsNew);

/// A part becomes one of the same type, to which some of its members go; none, if they go to several.
std::vector<PartPair> pairParts(const Level &Old, const Level &New,
                                const std::vector<MemberPair> &Members, const FieldMap &Map);

} // namespace nvmove::pool
