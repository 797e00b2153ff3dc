// Records every translation unit of a compile database, in parallel, through the cache.
//
// Workers take one unit at a time, each with a stack deep enough for Clang's recursion and inside
// a crash recovery context, so that a crash in the compiler costs one unit and not the run. The
// result is in database order whatever the number of threads.
#pragma once

#include "facts/Facts.h"
#include "scan/CompileDatabase.h"
#include "scan/FactsCache.h"

#include "llvm/ADT/StringRef.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace nvmove::scan {

/// A translation unit that could not be recorded.
struct FailedUnit {
  std::string File;
  std::string Why;         ///< One line.
  std::string Diagnostics; ///< Clang's own text, may be empty.
};

struct Scanned {
  std::vector<facts::TranslationUnit> Units;
  std::vector<FailedUnit> Failed;
  std::set<std::string> Inputs; ///< Every file that was read.
  size_t FromCache = 0;
};

struct ScannerOptions {
  unsigned Threads = 1;
  FactsCache *Cache = nullptr;                 ///< May be null: record everything.
  std::function<void(llvm::StringRef)> OnDone; ///< After each unit, with its file; any thread.
};

Scanned scanUnits(llvm::ArrayRef<CompileCommand> Commands, const ScannerOptions &Options);

} // namespace nvmove::scan
