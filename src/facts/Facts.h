// What one translation unit says: the vocabulary that scan writes and solve reads.
//
// A translation unit is recorded once, as data, by src/scan and thought about later, together with
// the others of its program, by src/solve. The record is a small register language, made for
// points-to and taint analysis and for nothing else: it keeps where pointers and input go, which
// types memory is looked at through, and who calls whom; it drops arithmetic, control flow (but for
// the nesting of regions) and everything that reads no memory and calls nothing.
//
// Nouns:
//   String    interned text; every name and path is a StringId.
//   Type      void, scalar, pointer, record, array or function, with its size in bytes.
//   Record    a struct or union with its fields' byte offsets; unnamed nested records name a parent.
//   Symbol    a function, or a variable that lives in memory (global, static, address-taken local).
//   Register  a value inside one function: a parameter, a local that is never address-taken, or a
//             temporary. Struct values are represented by the register of their address.
//   Instruction  one step of the register language, see Op.
//   Region    a piece of a function's body that may run never (branch) or often (loop).
//   Function  registers, regions and instructions of one body. Each TU has one more, nameless,
//             function at index 0 that performs the static initialisers.
//
// Everything here is plain data without a Clang type in it, so that a TU can be recorded on one
// machine and solved on another (docs/internals/facts-format.md). Offsets and sizes are bytes of
// the target.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nvmove::facts {

using StringId = uint32_t;
using TypeId = uint32_t;
using RecordId = uint32_t;
using SymbolId = uint32_t;
using Register = uint32_t;

/// "There is none": no type, no record, no symbol, no register.
inline constexpr uint32_t None = ~0u;
/// The register of every null pointer constant.
inline constexpr Register NullRegister = ~0u - 1;

/// A place in a source file. Line and Column count from 1; Line 0 is "nowhere".
struct Location {
  StringId File = 0;
  uint32_t Line = 0;
  uint32_t Column = 0;
};

enum class TypeKind : uint8_t { Void, Scalar, Pointer, Record, Array, Function };

/// A canonical (typedef-free, unqualified at top level) C type.
struct Type {
  TypeKind Kind = TypeKind::Void;
  bool ConstPointee = false; ///< Pointer: what it points to is const.
  uint32_t Inner = None;     ///< Pointer: pointee TypeId. Array: element TypeId. Record: RecordId.
  uint64_t Size = 0;         ///< Bytes; 0 when incomplete or a function.
  StringId Spelling = 0;     ///< Function: the canonical signature. Scalar: its spelling.
};

struct Field {
  StringId Name = 0;
  TypeId Type = None;
  uint64_t Offset = 0; ///< Bytes from the record's start; a bit-field has its first byte's.
};

struct Record {
  StringId Name = 0;             ///< Tag, else the typedef that names it, else "".
  std::vector<StringId> Aliases; ///< Typedefs of it seen in this TU, and "struct tag".
  bool Union = false;
  bool Complete = false;
  bool System = false;    ///< Defined in a system header.
  RecordId Parent = None; ///< Unnamed record: the record it is nested in.
  Location Where;
  uint64_t Size = 0;
  std::vector<Field> Fields;
};

enum class SymbolKind : uint8_t { Function, Global, Local };

struct Symbol {
  SymbolKind Kind = SymbolKind::Global;
  bool External = false; ///< Visible to the linker (not static, not local).
  bool Defined = false;  ///< This TU defines it (tentative definitions included).
  bool Weak = false;     ///< Weak, or an inline definition another one may replace.
  bool NoReturn = false; ///< Function declared noreturn.
  bool Formats = false;  ///< Function with a printf-like format attribute.
  bool System = false;   ///< Declared in a system header.
  bool Constant = false; ///< Variable declared const: only its initialiser writes it.
  StringId Name = 0;
  TypeId Type = None; ///< Variable: its type. Function: its function type.
  Location Where;
};

// clang-format off
enum class Op : uint8_t {
  AddressOf,  ///< Dst = &Symbol(A)                     a variable or a function
  Copy,       ///< Dst <- A                             value or arithmetic on it; several may feed Dst
  FieldOf,    ///< Dst = &A->field                      Record(Ty).Fields[B], Delta its byte offset
  ElementOf,  ///< Dst = &A[?]                          A points to records
  Offset,     ///< Dst = (char *)A + Delta              known number of bytes
  Wander,     ///< Dst = (char *)A + unknown            somewhere in the object A points to
  Cast,       ///< Dst = (Ty)A                          Ty a pointer to a record, or bytes from void *
  Load,       ///< Dst = *(Ty *)A                       Ty scalar or pointer
  Store,      ///< *(Ty *)A = B                         Ty scalar or pointer; B may be None or Null
  CopyObject, ///< *(Ty *)A = *(Ty *)B                  Ty a record or array
  SizeOf,     ///< Dst = sizeof(Ty) or offsetof(Ty, .)  Ty a record
  Call,       ///< Dst = callee(args)                   A: symbol when direct, else None; B: register;
              ///<                                      Delta: bit i set when argument i is a literal
              ///<                                      "w.." or "a.." without '+', or O_WRONLY
  Return,     ///< return A                           Implicit: the integer constant Delta
};
// clang-format on

/// One step. A, B and Dst are registers unless Op says otherwise. Call keeps its arguments in
/// Function::Arguments [FirstArgument, FirstArgument + ArgumentCount).
struct Instruction {
  Op Code = Op::Copy;
  bool Implicit = false; ///< Cast: not written by the programmer. Call: result is unused. Return:
                         ///< of a constant.
  uint16_t ArgumentCount = 0;
  uint32_t Region = 0;
  Register Dst = None;
  uint32_t A = None;
  uint32_t B = None;
  TypeId Ty = None;
  int64_t Delta = 0;
  uint32_t FirstArgument = 0;
  Location Where;
};

enum class RegionKind : uint8_t { Body, Branch, Loop };

struct Region {
  RegionKind Kind = RegionKind::Body;
  uint32_t Parent = None;
};

/// A variable whose type the paper's algorithm looks at: assigned, modified, or written by a
/// library call such as memcpy (NVMOVE, section 3).
struct Assignment {
  RecordId Record = None;
  bool ByLibrary = false;     ///< Through a libc call, not an assignment operator.
  bool ByInitialiser = false; ///< Through a declaration's initialiser.
  Location Where;
};

struct Function {
  SymbolId Symbol = None;        ///< None for the static initialisers.
  uint32_t ParameterCount = 0;   ///< Parameters are registers 0 .. ParameterCount-1.
  bool Variadic = false;         ///< Register ParameterCount is all that is passed beyond them.
  TypeId Result = None;          ///< What it returns; None for the static initialisers.
  std::vector<TypeId> Registers; ///< Type of each register; None when of no interest.
  std::vector<Region> Regions;   ///< Region 0 is the body.
  std::vector<Instruction> Body;
  std::vector<Register> Arguments;
  std::vector<Assignment> Assignments;
};

/// All facts of one translation unit.
struct TranslationUnit {
  std::string MainFile;             ///< Absolute path.
  std::string Output;               ///< Object file named by the command, may be empty.
  std::vector<std::string> Strings; ///< Strings[0] is "".
  std::vector<Type> Types;
  std::vector<Record> Records;
  std::vector<Symbol> Symbols;
  std::vector<Function> Functions;
  uint64_t Lines = 0; ///< Lines of the main file.

  const std::string &text(StringId S) const { return Strings[S]; }
};

} // namespace nvmove::facts
