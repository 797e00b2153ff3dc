// Which records the memory of an access belongs to, as far as the path to it in the code shows: the
// record whose member it is, and those that this one lies in.
//
// Read before optimisation, while addresses are still made of types. A pointer to a member that was
// kept in a variable, or passed to a function, shows no record.
#pragma once

#include "ir/Access.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nvmove::plugin {

/// Names of records: "dict", without `struct` or `union`.
class RecordNames {
public:
  /// Adds those in a file: what `nvmove scan --format=json` prints, the `types` of a port file with its volatile
  /// fields, or a name in each line, with comments behind `#`. An error says what is wrong with it.
  llvm::Error addFile(const std::string &Path);
  /// \p Name as the source has it, or as LLVM has it ("struct.dict.3").
  bool has(llvm::StringRef Name) const { return !named(Name).empty(); }
  /// The one that is called so, by the first of its names; empty: none.
  llvm::StringRef named(llvm::StringRef Name) const;
  /// The first name of each, in the order of the files.
  const std::vector<std::string> &all() const { return Firsts; }
  /// Whether a port file calls \p Field volatile: "dict.rehashidx".
  bool isVolatile(llvm::StringRef Field) const { return Volatile.contains(Field); }

private:
  llvm::Error addReport(llvm::StringRef Text);
  llvm::Error addPortFile(llvm::StringRef Text, const std::string &Path);
  void add(llvm::StringRef Name, llvm::StringRef First);

  llvm::StringMap<std::string> Names; ///< to the first name of the same record
  std::vector<std::string> Firsts;
  llvm::StringSet<> Volatile; ///< fields
  bool NamesAny = false;      ///< the file that is read names something
};

/// The records of \p Wanted that \p A is of: their names in the order of the alphabet, with commas
/// between them; empty: none.
std::string recordsOf(const Access &A, const RecordNames &Wanted);

} // namespace nvmove::plugin
