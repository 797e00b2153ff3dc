// Records the facts of one translation unit: a Clang parse in, plain data out.
#pragma once

#include "facts/Facts.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nvmove::scan {

/// One entry of a compile database.
struct CompileCommand {
  std::string Directory;              ///< Absolute.
  std::string File;                   ///< Absolute.
  std::string Output;                 ///< May be empty.
  std::vector<std::string> Arguments; ///< argv, compiler first.
};

/// What came of one translation unit.
struct Recording {
  facts::TranslationUnit Unit;
  std::vector<std::string> Inputs;  ///< Absolute path of every file that counts.
  std::vector<std::string> Present; ///< Absolute paths that __has_include has found.
  std::vector<std::string> Absent;  ///< Absolute paths that were looked for and not found.
  unsigned Errors = 0;              ///< Parse errors; with any, Unit is empty.
  std::string Diagnostics;          ///< Clang's own text of errors, uncoloured.
};

/// Parses the file of \p Command and records it. Thread-safe: every call has its own file manager.
/// Flags that clang does not know are dropped. An error means that no compilation could be set up
/// at all (no such file, no usable command); parse errors are counted in the result instead.
llvm::Expected<Recording> record(const CompileCommand &Command);

} // namespace nvmove::scan
