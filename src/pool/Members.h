// The members of a type as the pool describes them (struct nvm_type of nvmove/abi.h), and their
// values in a block.
#pragma once

#include "nvmove/inspect.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace nvmove::pool {

/// A record that lies in another one.
struct Part {
  std::string Name;    ///< "head.link"; of a base class: of the record that has it
  std::string Type;    ///< "struct link"
  uint64_t Offset = 0; ///< bytes from the start of the record
  uint64_t Size = 0;   ///< bytes
  bool IsBase = false; ///< of a C++ class: its members have no names of their own
};

struct Member {
  std::string Name;
  std::string Kind;
  uint64_t Offset = 0, Size = 0;    ///< bytes from the start of the record; of one element
  uint64_t Count = 1;               ///< of the innermost elements
  std::vector<uint64_t> Dimensions; ///< of an array; the first of a flexible one is 0
  unsigned FirstBit = 0, Bits = 0;  ///< of a bit-field; 0: none
  bool IsArray = false;
  bool IsTail = false; ///< the flexible array at the end of a record
  // Of an array of records or unions: of each element, from its start.
  std::string Type;
  std::vector<Member> Inner;
  std::vector<Part> Parts;
};

struct Record {
  std::vector<Member> Members;
  std::vector<Part> Parts;
  bool IsWhole = true; ///< each line was understood
};

/// From the start of the record. What follows a flexible array belongs to it, too.
uint64_t firstBit(const Member &M);
uint64_t endBit(const Member &M);
/// Of an integer, at most 64.
unsigned bitsOf(const Member &M);

/// Whether the value is a number without a fraction.
bool isInteger(llvm::StringRef Kind);
bool isSigned(llvm::StringRef Kind);
/// Of characters, which may be text.
bool isCharacter(llvm::StringRef Kind);

/// Lines that make no sense are left out.
Record parseRecord(llvm::StringRef Lines);

/// The innermost base class that has the member; null: the class itself has it.
const Part *baseOf(const Member &M, const std::vector<Part> &Parts);

/// What may stand behind the name of a record, "struct item and bytes": blocks of this type have more behind it.
constexpr const char *MoreBehind[] = {"", " and bytes", " and words"};
/// "struct item" of "struct item and bytes".
llvm::StringRef recordOf(llvm::StringRef Type);

/// For people the text up to the first zero is what an array of characters says; where pointers
/// alone are looked for, null stands for it, since a text can look like one.
enum class Precision { Readable, Exact, Pointers };

/// A value as people and JSON see it: numbers, texts, arrays. A pointer into the pool is "@" and
/// the offset of what it leads to, another one "0x…", null is null. What JSON has no number for is
/// a string (docs/guide/operations.md, "Leaving").
llvm::json::Value valueOf(const Member &M, const char *Record, NVM_POOL *Pool, Precision How);

/// Characters: a string where that says all but zeros at the end, else, if it is to be exact, an
/// object that has every byte.
llvm::json::Value textOf(llvm::StringRef Bytes, Precision How);

} // namespace nvmove::pool
