// Diagnostics in clang's form, for everything that goes to stderr or to a text report.
//
//   src/db.c:12:5: error: what is wrong
//      12 |     dictAdd(d, key);
//         |     ^
//   src/db.c:3:1: note: why
//
// A diagnostic without a place starts with the program's name instead: "nvmove: error: …".
// Colours follow --color, then NO_COLOR, then whether the stream is a terminal. Lines longer than
// the window are cut around the column, so that a machine-written file cannot flood the terminal.
// It decides nothing about exit codes and keeps no list of what it printed, only counts.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace nvmove::support {

enum class ColorMode { Auto, Always, Never };

/// Whether \p Stream gets colours under \p Mode. NO_COLOR (any non-empty value) and TERM=dumb turn
/// Auto off.
bool wantsColor(ColorMode Mode, const llvm::raw_fd_ostream &Stream);

/// Lines of source files, read once each. Not thread-safe.
class SourceLines {
public:
  /// Line \p Number (from 1) of \p Path without its newline; nothing when there is no such line.
  std::optional<llvm::StringRef> line(llvm::StringRef Path, unsigned Number);

private:
  struct File {
    std::unique_ptr<llvm::MemoryBuffer> Text; ///< Null when the file cannot be read.
    std::vector<size_t> Starts;               ///< Byte offset of each line.
  };
  std::map<std::string, File, std::less<>> Files;
};

/// \p Path relative to the working directory when it lies below it, else as it is.
std::string displayPath(llvm::StringRef Path);

/// The part of \p Line around byte \p Column (from 1) that fits a terminal, with tabs expanded and
/// control characters replaced. \p Caret becomes the display column of that byte, from 0.
std::string sourceWindow(llvm::StringRef Line, unsigned Column, unsigned &Caret);

enum class Severity { Error, Warning, Remark, Note };

/// Where a diagnostic points. Line 0: the file as a whole; no file: the program.
struct Place {
  std::string File;
  unsigned Line = 0;
  unsigned Column = 0; ///< From 1, in bytes; 0: unknown.
};

/// "file:line:col: severity: text" with the source line and a caret below it where there is one.
void printDiagnostic(llvm::raw_ostream &OS, bool Color, SourceLines &Sources, Severity What,
                     const Place &Where, const llvm::Twine &Text);

/// The tool's stderr. Thread-safe; each diagnostic is written in one piece.
class Diagnostics {
public:
  Diagnostics(llvm::raw_ostream &OS, bool Color, bool Quiet = false)
      : OS(OS), Color(Color), Quiet(Quiet) {}

  void error(const llvm::Twine &Text, const Place &Where = {});
  void warning(const llvm::Twine &Text, const Place &Where = {});
  void note(const llvm::Twine &Text, const Place &Where = {});
  /// Prints every message of \p E as an error.
  void error(llvm::Error E);
  /// Somebody else's finished text, e.g. clang's own diagnostics.
  void verbatim(llvm::StringRef Text);

  unsigned errors() const { return ErrorCount; }
  bool colors() const { return Color; }

private:
  void print(Severity What, const llvm::Twine &Text, const Place &Where);

  llvm::raw_ostream &OS;
  bool Color;
  bool Quiet; ///< Only errors and the notes that belong to them.
  bool LastShown = true;
  unsigned ErrorCount = 0;
  SourceLines Sources;
  std::mutex Mutex;
};

} // namespace nvmove::support
