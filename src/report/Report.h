// Prints a scan's result: for people (text, HTML) and for programs (JSON).
//
// Every format takes the same finished result, decides nothing and opens no output of its own.
// Text and HTML read the user's sources again to show the lines that the chains point at; a source
// that has gone away costs the snippet, not the report.
#pragma once

#include "solve/Result.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::report {

struct TextOptions {
  bool Color = false;
  bool Chains = true;   ///< After the table, the chain that proves each type.
  bool Verbose = false; ///< All skipped inputs and unresolved calls instead of the first few.
};

/// A table of the types, then the chains as clang-style notes, then what was left out.
void printText(const ScanResult &Result, llvm::raw_ostream &OS, const TextOptions &Options);

/// schema_version 1. Keys may be added; one that changes its meaning or goes raises the version.
void printJson(const ScanResult &Result, llvm::raw_ostream &OS);

/// One file with everything inside: no network, no second file.
void printHtml(const ScanResult &Result, llvm::raw_ostream &OS);

} // namespace nvmove::report
