// What a pointer into an object may lead to, and where that begins in the object of the new type.
//
// Several things begin at one byte: the object, a record that is its first member, an array in that, the first number.
// In the new type they may lie apart. The type that a pointer has in the sources says which of them it leads to; where
// no type says it, the pointer is carried over only if all of them have stayed together.
#pragma once

#include "pool/Plan.h"

namespace nvmove::pool {

/// Something that begins, or ends, at a byte.
struct Start {
  std::string Type;           ///< in the pool; of a number empty
  Member Was, Is;             ///< of a number: in the pool and in the program
  std::optional<uint64_t> To; ///< bytes from the start of the new object; none: it is given up
  bool IsObject = false;      ///< the whole object
  bool IsArray = false;       ///< what ends is an array of several elements
};
using Starts = std::vector<Start>;

/// What begins \p Inside an object of the plan's old type: the outermost first. A number is there for each byte of it.
Starts startsAt(const TypePlan &Plan, uint64_t Inside);

/// What ends \p Inside it, right before that byte.
Starts endsAt(const TypePlan &Plan, uint64_t Inside);

/// What a pointer says of what it leads to.
struct Pointee {
  bool IsAnything = false;       ///< void *: the object rather than what begins with it
  std::string Type;              ///< in the pool; empty: not known, so that no block is of it
  std::optional<Member> Number;  ///< of a type that is no record
  const nvm_type *Now = nullptr; ///< in the program; null: not known
  bool Changes = false;          ///< the type has another layout in the program, or is another type
};

inline Pointee anything() {
  Pointee Wanted;
  Wanted.IsAnything = true;
  return Wanted;
}

/// Whether one of them is what the pointer's type says, or may be meant by it.
bool hasExactly(const Starts &All, const Pointee &Wanted);
bool hasPerhaps(const Starts &All, const Pointee &Wanted);

/// Where an array, or a single object, ends.
struct ArrayEnd {
  /// Bytes from the start of the new object, or in the new pool; none: nobody knows.
  std::optional<uint64_t> Place;
  bool HasSeveral = false; ///< objects
  bool IsExact = true;     ///< they are what the pointer's type says
  bool IsOfBlock = false;  ///< the end of the block
};
/// Of what is just what the pointer's type says; none: nothing is.
std::optional<ArrayEnd> arrayEnd(const Starts &All, const Pointee &Wanted);

/// Which of them a pointer leads to. None: to what is given up. An error: more than one is possible, and they lie
/// apart; or none of them is.
llvm::Expected<std::optional<uint64_t>> choose(const Starts &All, const Pointee &Wanted);

} // namespace nvmove::pool
