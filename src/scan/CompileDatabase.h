// Which files make up the program, and how each is compiled: compile_commands.json.
//
// The database is found as clangd finds it (or named with -p), read in both of its forms
// ("command" and "arguments"), with relative paths resolved against each entry's directory and
// response files expanded. What nvmove cannot record (C++, assembler, a command whose response file
// is gone) is not dropped silently but listed in Skipped. A header that is compiled or preprocessed
// by itself is left out: the sources that include it bring it. Compilations that differ only in code
// generation, such as libtool's PIC and non-PIC objects, are the same source twice: the one whose
// object is nearest to the source is kept. The words of a command are understood in CommandLine.h.
#pragma once

#include "scan/Recorder.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nvmove::scan {

/// A source that takes no part in the answer, with the reason.
struct SkippedSource {
  std::string File;
  std::string Why;
};

struct CompileDatabase {
  std::string Path; ///< Of the JSON file; empty when made from a command line.
  std::vector<CompileCommand> Commands;
  std::vector<SkippedSource> Skipped;
  std::vector<std::string> Read; ///< The database itself and its response files.
  size_t Duplicates = 0;         ///< Entries left out because they say the same again.
};

/// \p Given is what -p named: a folder or a file. The error says what is wrong, where (line and
/// column for broken JSON) and what to do.
llvm::Expected<CompileDatabase> loadCompileDatabase(llvm::StringRef Given);

/// The nearest compile_commands.json to \p From: in the folder itself, in its build/, then the
/// same for each parent. The error shows the two commands that create one.
llvm::Expected<std::string> findCompileDatabase(llvm::StringRef From);

/// A database for \p Files compiled with \p Flags (what stands after "--"), in the working
/// directory. An error when a source stands among the flags.
llvm::Expected<CompileDatabase> commandLineDatabase(llvm::ArrayRef<std::string> Files,
                                                    llvm::ArrayRef<std::string> Flags);

} // namespace nvmove::scan
