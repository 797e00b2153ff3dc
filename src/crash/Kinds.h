// What the kinds of findings mean, and what mends them.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace nvmove::crash {

struct Kind {
  llvm::StringRef Name, What, Mend;

  /// "crash/output-before-commit".
  std::string rule() const;
  /// Of the page that has an example.
  std::string page() const;
};

llvm::ArrayRef<Kind> allKinds();
/// Every finding has one. Null: there is none of this name, which may have - in place of blanks.
const Kind *kindNamed(llvm::StringRef Name);

} // namespace nvmove::crash
