// The linked program: which translation units belong together, and what every name in them means.
//
// One tree often builds several programs, and two of them may define the same function. Starting
// from the units that define the load functions, the program is grown as a linker would: units that
// define what is missing, then units that use what is there, never one that defines a function a
// second time. Records of different units are one when they have the same name, size and place of
// definition, or the same name and members and a function that one unit calls and the other defines
// takes them; an incomplete record is the complete one of its name.
//
// Nouns: a Function is a body; an External is a function without one (libc, libraries); a Global is
// a variable with static storage; a Shape is what matters of a type: the record at its core and how
// many pointers lie before it.
#pragma once

#include "facts/Facts.h"
#include "solve/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace nvmove::solve {

using FunctionId = uint32_t;
using RecordKey = uint32_t;
using GlobalId = uint32_t;
using ExternalId = uint32_t;
inline constexpr uint32_t None = facts::None;

enum class Core : uint8_t { Other, Void, Char, Record, Function };

struct Shape {
  Core What = Core::Other;
  uint8_t Pointers = 0; ///< Levels of pointer before the core; arrays do not count.
  bool ConstPointee = false;
  bool Array = false;      ///< The outermost level is an array.
  bool Address = false;    ///< Core::Other: unsigned and wide enough for the value of a pointer.
  RecordKey Record = None; ///< Core::Record only.
  uint64_t Size = 0;       ///< Bytes of the whole type.

  bool isPointerTo(Core Wanted) const { return Pointers == 1 && What == Wanted; }
  bool isGenericPointer() const {
    return Pointers == 1 && (What == Core::Void || What == Core::Char);
  }
};

struct RecordField {
  std::string Name;
  uint64_t Offset = 0;
  Shape Type;
};

struct RecordInfo {
  std::string Name;
  std::vector<std::string> Aliases;
  bool Union = false, Complete = false, System = false;
  RecordKey Parent = None; ///< Unnamed: the record around it.
  std::string File;
  unsigned Line = 0, Column = 0;
  uint64_t Size = 0;
  std::vector<RecordField> Fields;
};

/// What a symbol of some unit means in the program.
struct Entity {
  enum Kind : uint8_t { Unknown, Function, External, Global, Local } What = Unknown;
  uint32_t Id = None;
};

struct UnitView {
  const facts::TranslationUnit *Unit = nullptr;
  std::vector<Entity> Entities;     ///< By SymbolId.
  std::vector<Shape> Shapes;        ///< By TypeId.
  std::vector<RecordKey> Records;   ///< By RecordId.
  std::vector<uint32_t> Signatures; ///< By TypeId: interned function signature, else None.
};

struct FunctionInfo {
  const UnitView *View = nullptr;
  const facts::Function *Body = nullptr;
  std::string Name;
  uint32_t Signature = None;

  const facts::TranslationUnit &unit() const { return *View->Unit; }
  const facts::Symbol &symbol() const { return View->Unit->Symbols[Body->Symbol]; }
  const Shape &parameter(unsigned I) const { return shapeOf(Body->Registers[I]); }
  const Shape &shapeOf(facts::TypeId Type) const;
  const Shape &result() const { return shapeOf(Body->Result); }
};

struct GlobalInfo {
  std::string Name;
  const UnitView *View = nullptr;
  const facts::Symbol *Symbol = nullptr;
  Shape Type;
};

struct ExternalInfo {
  std::string Name; ///< Without "__builtin_", "__" and "_chk".
  bool NoReturn = false, Formats = false;
};

/// A variable that two units define differently, equally near to where it is used.
struct LinkDoubt {
  std::string Variable, Taken, Other; ///< Its name, and the sources of the units.
};

/// Two units that define the same functions, of which no other says which is meant.
struct UnitChoice {
  uint32_t Taken = None, Other = None;
  bool Nearer = false; ///< The one that was taken is, to where it is used.
};

class Program {
public:
  /// Links the units around the functions named \p Seeds (indices into \p Units).
  Program(std::vector<facts::TranslationUnit> Units, llvm::ArrayRef<uint32_t> Seeds);
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  const std::vector<FunctionInfo> &functions() const { return Functions; }
  const FunctionInfo &function(FunctionId Id) const { return Functions[Id]; }
  const std::vector<RecordInfo> &records() const { return Records; }
  const RecordInfo &record(RecordKey Key) const { return Records[Key]; }
  const std::vector<GlobalInfo> &globals() const { return Globals; }
  const std::vector<ExternalInfo> &externals() const { return Externals; }
  const std::vector<UnitView> &views() const { return Views; }
  const std::vector<facts::TranslationUnit> &units() const { return Units; }
  const std::vector<LinkDoubt> &doubts() const { return Doubts; }
  const std::vector<UnitChoice> &choices() const { return Choices; }
  uint32_t initialisers(const UnitView &View) const;

  /// What a Call or AddressOf instruction names.
  Entity entity(const FunctionInfo &In, facts::SymbolId Symbol) const {
    return In.View->Entities[Symbol];
  }

  /// The named record that \p Key belongs to: itself, or the one around an unnamed one. One that
  /// has neither is called by its place.
  RecordKey named(RecordKey Key) const;
  /// False for the parts of a record that have no name of their own.
  bool standsAlone(RecordKey Key) const {
    return !Records[Key].Name.empty() || Records[Key].Parent == None;
  }
  std::string displayName(RecordKey Key) const;
  /// An answer that names \p Key and where it is defined; the rest is the caller's.
  PersistentType describe(RecordKey Key) const;

  /// True when \p Longer begins with all fields of \p Shorter, two at least: inheritance by
  /// repetition.
  bool extends(RecordKey Longer, RecordKey Shorter) const;

  /// The records that begin at byte \p Offset of record \p Outer, itself first.
  void recordsAt(RecordKey Outer, uint64_t Offset, std::vector<RecordKey> &Found,
                 unsigned Depth = 0) const;

private:
  void choose(llvm::ArrayRef<uint32_t> Seeds);
  void bind(UnitView &View);
  void bindRecords(UnitView &View);
  void bindSymbols(UnitView &View);
  void uniteRecords();
  void uniteByVariables(class SameRecords &Same) const;
  void completeRecords();
  llvm::StringMap<const UnitView *> definers() const;
  RecordKey meant(const UnitView &View, const std::string &Name,
                  const std::vector<RecordKey> &Complete,
                  const llvm::StringMap<const UnitView *> &Definers) const;
  Shape shape(const UnitView &View, facts::TypeId Type) const;
  RecordKey internRecord(const facts::TranslationUnit &Unit, const facts::Record &Record);

  std::vector<facts::TranslationUnit> Units;
  std::vector<bool> Chosen;
  std::vector<LinkDoubt> Doubts;
  std::vector<UnitChoice> Choices;
  std::vector<UnitView> Views;
  std::vector<FunctionInfo> Functions;
  std::vector<RecordInfo> Records;
  std::vector<GlobalInfo> Globals;
  std::vector<ExternalInfo> Externals;
  llvm::StringMap<RecordKey> RecordKeys;
  llvm::StringMap<FunctionId> FunctionNames;
  llvm::StringMap<GlobalId> GlobalNames;
  llvm::StringMap<ExternalId> ExternalNames;
  llvm::StringMap<uint32_t> Signatures;
};

/// Loads of library names say the same function by many spellings: __builtin_memcpy, __memcpy_chk.
llvm::StringRef plainName(llvm::StringRef Name);

} // namespace nvmove::solve
