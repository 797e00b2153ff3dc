// Which records the memory of an access belongs to, as far as the path to it in the code shows: the
// record whose member it is, and those that this one lies in.
//
// Read before optimisation, while addresses are still made of types. A pointer to a member that was
// kept in a variable, or passed to a function, shows no record.
#pragma once

#include "Access.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

namespace nvmove::plugin {

/// Names of records: "dict", without `struct` or `union`.
class RecordNames {
public:
  /// Adds those in a file: what `nvmove scan --format=json` prints, or a name in each line, with
  /// comments behind `#`. An error says what is wrong with it.
  llvm::Error addFile(const std::string &Path);
  bool empty() const { return Names.empty(); }
  /// \p Name as the source has it, or as LLVM has it ("struct.dict.3").
  bool has(llvm::StringRef Name) const;

private:
  llvm::Error addReport(llvm::StringRef Text);

  llvm::StringSet<> Names;
};

/// Whether \p A is of a record of \p Wanted.
bool isOfRecord(const Access &A, const RecordNames &Wanted);

} // namespace nvmove::plugin
