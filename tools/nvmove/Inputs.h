// From the command line to facts: chooses the inputs, records or reads them, reports what failed.
#pragma once

#include "nvmove/Arguments.h"

#include "scan/CompileDatabase.h"
#include "solve/Result.h"

#include <set>
#include <string>
#include <vector>

namespace nvmove::solve {
struct UnknownFunction;
}

namespace nvmove::tool {

/// What a scan works on.
struct Inputs {
  std::string Program; ///< A name for the scanned tree.
  std::vector<facts::TranslationUnit> Units;
  std::vector<SkippedInput> Skipped;
  std::set<std::string> Read; ///< Files that the answer comes from.
  size_t FromCache = 0;
};

/// The database that \p A names or that a search finds, or the one its files and flags make.
llvm::Expected<scan::CompileDatabase> openDatabase(const Arguments &A);

/// Records everything (or reads .nvf files). Inputs that fail are reported to \p D and listed in
/// Skipped; an error means that there is nothing to work on.
llvm::Expected<Inputs> gatherInputs(const Arguments &A, support::Diagnostics &D);

/// Says that a function of --load or --save does not exist, or which of several are meant.
void reportUnknownFunction(const solve::UnknownFunction &Unknown, bool SomeSkipped,
                           support::Diagnostics &D);

} // namespace nvmove::tool
