// From the command line to facts: chooses the inputs, records or reads them, reports what failed.
#pragma once

#include "nvmove/Arguments.h"

#include "scan/CompileDatabase.h"
#include "solve/Result.h"

#include <string>
#include <vector>

namespace nvmove::tool {

/// What a scan works on.
struct Inputs {
  std::string Program; ///< A name for the scanned tree.
  std::vector<facts::TranslationUnit> Units;
  std::vector<SkippedInput> Skipped;
  size_t FromCache = 0;
};

/// The database that \p A names or that a search finds, or the one its files and flags make.
llvm::Expected<scan::CompileDatabase> openDatabase(const Arguments &A);

/// Records everything (or reads .nvf files). Inputs that fail are reported to \p D and listed in
/// Skipped; an error means that there is nothing to work on.
llvm::Expected<Inputs> gatherInputs(const Arguments &A, support::Diagnostics &D);

} // namespace nvmove::tool
