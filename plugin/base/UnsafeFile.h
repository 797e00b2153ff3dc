// UnsafeFile.h: what pre-compiled functions write, as their users describe it (Breeze, Fig. 7).
//
// An .unsafe file holds a line per function: how many arguments it takes and the ranges of memory
// that it writes, as expressions over its arguments. docs/reference/unsafe-files.md defines the
// language; this room's nouns are the function, its ranges and the expressions. What is made of
// them is UnsafeCalls.h.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace nvmove::plugin {

/// An expression over the arguments of a call; its value is a 64-bit integer or an address.
struct UnsafeExpr {
  enum Kind {
    Number,   ///< #64
    Argument, ///< arg0
    Element,  ///< elem: the address of the element of the `each` around it
    Load,     ///< *E or *E:W, W bytes (8 unless said); of a null address: 0
    Add,
    Subtract,
    Multiply,
    Either,  ///< or(A,B): A unless it is 0, then B
    Min,     ///< min(A,B)
    Strlen,  ///< strlen(E): characters before the terminating one; of a null address: 0
    Strnlen, ///< strnlen(E,MAX)
    Wcslen,  ///< wcslen(E), in characters
    Printed, ///< printed(FORMAT): characters that a printf with the arguments after FORMAT makes
    VPrinted ///< vprinted(FORMAT,LIST): the same with a va_list
  };
  Kind What = Number;
  uint64_t Value = 0; ///< of Number; index of Argument; width of Load
  std::vector<UnsafeExpr> Operands;
};

/// Memory that a call writes (or reads).
struct UnsafeRange {
  enum Kind {
    Bytes,   ///< [ADDRESS,SIZE]
    Each,    ///< each(BASE,COUNT,#STRIDE,RANGE): RANGE for every element, whose address is `elem`
    Scanf,   ///< scanf(FORMAT) or scanf(FORMAT,BOUND): where the conversions of a format store
    VScanf,  ///< vscanf(FORMAT,LIST) or vscanf(FORMAT,LIST,BOUND): the same with a va_list
    Percent, ///< counts(FORMAT): where the %n of a printf format store
    Later    ///< later(ARGUMENT) or later(ARGUMENT,MODE): the library writes there after the call
  };
  Kind What = Bytes;
  UnsafeExpr Address; ///< or BASE, or FORMAT, or ARGUMENT
  UnsafeExpr Size;    ///< bytes, or COUNT, or BOUND on the length of a string, or MODE
  UnsafeExpr List;    ///< of VScanf
  uint64_t Stride = 0;
  uint64_t Character = 1;          ///< Scanf, VScanf: bytes of a character of FORMAT
  bool Bounded = false;            ///< BOUND or MODE was given
  bool UntilNull = false;          ///< Each: COUNT is `null`, an element that begins with 0 ends it
  std::vector<UnsafeRange> Inside; ///< the one range of Each
};

struct UnsafeFunction {
  std::string Name, Place; ///< Place: FILE:LINE
  unsigned Arguments = 0;
  bool AtLeast = false; ///< `nargs:2+`: more arguments may follow
  /// `keeps`: neither it nor what it calls commits or releases a lock.
  bool Keeps = false;
  std::vector<UnsafeRange> Writes;
  std::vector<UnsafeRange> Reads;
};

/// Whether nvmove's own files describe it.
bool isInstalled(const UnsafeFunction &F);

class UnsafeTable {
public:
  /// Adds the functions of a file; a later entry of the same name replaces an earlier one. An error
  /// is "FILE:LINE:COLUMN: what is wrong".
  llvm::Error addFile(llvm::StringRef Path);
  llvm::Error addText(llvm::StringRef Text, llvm::StringRef Path);

  /// The entry for a function without a body here, or null.
  const UnsafeFunction *find(const llvm::Function &F) const;
  /// The entry of that name, or null.
  const UnsafeFunction *named(llvm::StringRef Name) const;

  /// An entry whose name is nearly \p Name and that of no function which \p IsDeclared, or null.
  const UnsafeFunction *nearest(llvm::StringRef Name,
                                llvm::function_ref<bool(llvm::StringRef)> IsDeclared) const;

  size_t size() const { return Functions.size(); }

private:
  llvm::StringMap<UnsafeFunction> Functions;
};

} // namespace nvmove::plugin
