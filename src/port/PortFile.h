// The port file: what a person decided about a program that is moved onto persistent memory, beside
// its sources in place of marks in them (docs/port-file.md). Parsed here, carried out by the
// compiler plugin.
//
// Entry: a name in the file, with its place. It stands for a function, or for a field, written
// "RECORD.FIELD" with further members behind more dots.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nvmove::port {

struct Entry {
  std::string Name;
  unsigned Line = 0, Column = 0; ///< 0: not known, it was written with escapes
};

/// A pointer field that is one exactly when a member beside it has one of the values, or none.
struct Decided {
  Entry Field;
  std::string Member;
  std::vector<int64_t> Values;
  bool Unless = false;
};

/// A pointer field in whose value some bits are no address.
struct Tagged {
  Entry Field;
  uint64_t Bits = 0;
};

/// Fields that mean what the marks of include/nvmove/marks.h say.
struct Fields {
  std::vector<Entry> Pointer, Weak, Static, Volatile, Number, Xor, Addresses;
  std::vector<Tagged> Tag;
  std::vector<Decided> When;
};

struct PortFile {
  std::string Path;
  std::string Program; ///< the source that is in the program: there every entry must be found
  std::vector<Entry> Atomic, Commit, Unsafe;
  Fields Marks;
};

/// An error names file, line and column, and shows the line.
llvm::Expected<PortFile> parsePortFile(llvm::StringRef Text, llvm::StringRef Path);
llvm::Expected<PortFile> readPortFile(llvm::StringRef Path);

/// Calls \p Take for each field that has a mark without more, with the mark's annotation.
void forEachMark(const Fields &F, llvm::function_ref<void(const Entry &, const char *)> Take);

/// Calls \p Take for each entry that has to be found in the program.
void forEachEntry(const PortFile &P, llvm::function_ref<void(const Entry &)> Take);

} // namespace nvmove::port
