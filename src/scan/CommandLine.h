// The words of a compile command, read as the compiler reads them: by Clang's own table of options.
//
// A compile database is untrusted. Its words say what a source means (kept), how code is generated,
// what is shown and what is written (dropped). Nothing in them may make the scan write or print:
// the driver's own outputs are dropped here, and the Recorder takes over from an invocation only
// the groups of options that say what the source means.
//
// Nothing is lost in silence either: a command that cannot be read as what it is (a response file
// is missing, the compiler is asked for its version) is an error that says why its source is
// skipped.
#pragma once

#include "scan/Recorder.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nvmove::scan {

/// What a source is written in, by the suffix that every C compiler goes by; "" for other files.
llvm::StringRef languageOfSuffix(llvm::StringRef File);

/// \p Text without a byte order mark, and as UTF-8 if it is UTF-16 with one.
std::string decoded(llvm::StringRef Text);

/// Replaces "@file" words, also nested ones, by the words in the file; adds the files to \p Read.
llvm::Error expandResponseFiles(CompileCommand &Command, std::vector<std::string> &Read);

/// Leaves one form of each thing: words for the preprocessor stand alone, the directory is the one
/// that the compiler works in, the only source is the command's own, Output is absolute.
/// \p Output is what the database says of it, or "".
llvm::Error simplify(CompileCommand &Command, llvm::StringRef Output);

/// "c" for what can be recorded, "" for no source, else the name of the language.
llvm::StringRef languageOf(const CompileCommand &Command);

/// A source among words that should be options alone, or "".
std::string sourceAmong(llvm::ArrayRef<std::string> Flags);

/// Equal for commands that give the same facts.
std::string meaningOf(const CompileCommand &Command);

/// The words for Clang: without launcher and compiler, and without what writes, prints or warns.
std::vector<std::string> meaningfulWords(const CompileCommand &Command);

} // namespace nvmove::scan
