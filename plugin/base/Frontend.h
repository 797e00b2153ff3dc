// What only the source shows and the IR half wants to know. The front-end half (FrontendAction.cpp,
// Layouts.cpp) fills it while the translation unit is parsed; empty when IR was compiled.
#pragma once

#include "base/UnsafeFile.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nvmove::plugin {

/// struct nvm_when of abi.h before it is emitted.
struct WhenLayout {
  uint64_t Offset = 0;
  uint8_t FirstBit = 0, Bits = 0;
  bool Follows = false, Unless = false;
  std::vector<int64_t> Values;
};

/// A word of a record that is not plain bytes; struct nvm_field of abi.h before it is emitted.
struct FieldLayout {
  std::string Name;
  uint64_t Target = 0, Tag = 0;
  uint64_t Offset = 0, Count = 1, Stride = 0;
  uint32_t Kind = 0; ///< enum nvm_field_kind
  std::optional<WhenLayout> When;
};

/// struct nvm_type of abi.h before it is emitted.
struct TypeLayout {
  uint64_t Id = 0;
  std::string Name, Members;
  uint64_t Size = 0;
  uint32_t Alignment = 1;
  std::vector<FieldLayout> Fields;
};

/// A function that a system header declares: nobody instrumented its body (SystemFunctions.h).
struct SystemFunction {
  static constexpr unsigned ArgumentsMax = 64; ///< that are told apart
  uint64_t WritableArguments = 0;              ///< bit N: argument N leads to something not const
  uint64_t LeadingArguments = 0; ///< the object behind it leads on to something not const
  uint64_t UntypedArguments = 0; ///< it is a `void *`
  unsigned Arguments = 0;        ///< with the object of a member function
  bool Variadic = false;

  /// Whether \p Argument is one of a set, in a call with \p Passed of them. Where structures are
  /// passed in parts the places are others, and any may be one of the set.
  bool isOneOf(uint64_t Set, unsigned Argument, unsigned Passed) const {
    if (Passed != Arguments)
      return Set != 0;
    return Argument < ArgumentsMax && (Set >> Argument) % 2 == 1;
  }
};

/// A root of the port file that this source defines.
struct RootPlace {
  std::string Name, Variable, After;
  uint64_t Offset = 0, Size = 0, Type = 0;
  bool Constant = false, InPool = false;
};

struct FrontendFacts {
  llvm::StringMap<SystemFunction> SystemFunctions; ///< by the name that the object file has
  /// Where a function's address is taken, by the same name; clang's number of the place.
  llvm::StringMap<uint32_t> TakenAddresses;
  /// By placeKey of a call of a virtual function that a system header declares: its name, as above.
  llvm::StringMap<std::string> VirtualCalls;
  std::vector<TypeLayout> Types;
  llvm::StringMap<std::string> AssignedFields; ///< by placeKey of an assignment: its field
  /// By placeKey of a store: the field, as a port file names it; empty: several. For an emulation only.
  llvm::StringMap<std::string> StoredFields;
  /// By placeKey of a copy: ids of the types that are written there, and read. Several: copies of one macro.
  llvm::StringMap<std::set<uint64_t>> CopiedRecords, ReadRecords;
  llvm::StringSet<>
      CalledCopies; ///< by placeKey of a call of memcpy or memmove: any other copy is the compiler's
  /// By placeKey of an access whose address shows no record (the first bit-fields of one, members of
  /// unions): the records that the path to it goes through, ids of types.
  llvm::StringMap<std::set<uint64_t>> HiddenRecords;
  /// By placeKey of an access, of a copy's writing and of its reading: each path through unions and base classes, ids of
  /// the records that it goes through.
  llvm::StringMap<std::vector<std::set<uint64_t>>> AccessedThrough, CopiedThrough, ReadThrough;
  llvm::StringMap<bool> BitFields; ///< by placeKey of an assignment to one: whether it is volatile
  std::vector<RootPlace> Roots;
  std::optional<UnsafeTable> Unsafe; ///< the .unsafe files, once they are read
  bool Throws = true;                ///< exceptions pass this source (-fexceptions)
  /// What -fdebug-prefix-map and -ffile-prefix-map put in place of what, the last first.
  std::vector<std::pair<std::string, std::string>> Prefixes;
  std::string Folder; ///< of the compilation, as the options say; empty: the process's
};

/// A place in the source under which both halves of the plugin find the same thing. \p File is its name in
/// the debug information.
std::string placeKey(llvm::StringRef File, unsigned Line, unsigned Column);

/// The name that the debug information has for \p File.
std::string nameInDebugInfo(llvm::StringRef File);

/// The facts of this compilation.
FrontendFacts &frontendFacts();

} // namespace nvmove::plugin
