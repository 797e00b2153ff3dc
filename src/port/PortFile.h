// The port file: what a person decided about a program that is moved onto persistent memory, beside
// its sources in place of marks in them (docs/reference/port-file.md). Parsed here, carried out by
// the compiler plugin.
//
// Entry: a name in the file, with its place. It stands for a function, or for a field, written
// "RECORD.FIELD" with further members behind more dots; in all sources, or in one, written
// "SOURCE:NAME". Scope: while calls of a function run, or while the value that is assigned to a
// field or variable ("VARIABLE", of a function "FUNCTION.VARIABLE") is computed; what is allocated
// then goes to the pool or to DRAM, the innermost scope decides. Root: a global variable, or a part
// of one, from which the data are reached. Load: a function that builds them from elsewhere. End: a
// function that takes them apart before the program ends.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nvmove::port {

struct Entry {
  std::string Written;           ///< empty: nothing was
  std::string Name;              ///< without "SOURCE:"; empty: it is for other sources
  unsigned Line = 0, Column = 0; ///< from 1
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

/// "VARIABLE" or "VARIABLE.MEMBER", with more members behind more dots.
struct Root {
  Entry Name;
  Entry After;           ///< the function behind which it has the pool's value; empty: the load
  bool Constant = false; ///< it keeps the value that it has after the load
  bool InPool = false;   ///< no copy: the variable itself lies there
};

struct Load {
  Entry Function;
  int64_t Attached = 0; ///< what it gives when the pool had the data
};

/// What the settings of the pool are where the environment does not say; empty: as without a port
/// file.
struct PoolSettings {
  std::string Path;    ///< NVMOVE_POOL
  std::string Size;    ///< NVMOVE_POOL_SIZE
  std::string Method;  ///< NVMOVE_METHOD
  std::string Durable; ///< NVMOVE_DURABLE
};

struct PortFile {
  std::string Path;
  std::string Program; ///< the source that is in the program: there every entry must be found
  std::vector<Entry> Atomic, Commit, Split, Unsafe;
  std::vector<Entry> Allocators;           ///< functions that allocate by calling malloc
  std::vector<Entry> Bytes;                ///< functions that allocate what has no pointers
  std::vector<Entry> Persistent, Volatile; ///< scopes: functions, fields, variables
  std::vector<Entry> Beside;               ///< scopes: where the first argument lies
  std::vector<Root> Roots;
  std::vector<Load> Loads;
  PoolSettings Pool;
  std::vector<std::string> Types; ///< of what lies in the pool; of use for the emulation alone
  std::vector<Entry> End;         ///< functions with which the program ends: what they free stays
  Fields Marks;
};

/// An error names file, line and column, and shows the line.
llvm::Expected<PortFile> parsePortFile(llvm::StringRef Text, llvm::StringRef Path);
llvm::Expected<PortFile> readPortFile(llvm::StringRef Path);

/// Calls \p Take for each field that has a mark without more, with the mark's annotation.
void forEachMark(const Fields &F, llvm::function_ref<void(const Entry &, const char *)> Take);

/// Calls \p Take for each setting that has a value, by its name.
void forEachSetting(const PoolSettings &P,
                    llvm::function_ref<void(llvm::StringRef, llvm::StringRef)> Take);

/// Why a pointer cannot have these bits as its tag; "" if it can.
llvm::StringRef wrongTag(uint64_t Bits);

/// Whether a port file that says \p Written means the source compiled as \p Path: it is the last
/// part of that path, from a folder's name on.
bool sameSource(llvm::StringRef Path, llvm::StringRef Written);

/// Clears the names of entries for sources other than \p Path: they match nothing.
void keepEntriesOf(PortFile &P, llvm::StringRef Path);

/// Calls \p Take for each entry that has to be found in the program.
void forEachEntry(const PortFile &P, llvm::function_ref<void(const Entry &)> Take);

} // namespace nvmove::port
