// What may go to a terminal: text, and no orders to it.
//
// Names of files and types, source lines and the compiler's messages come from others. A byte among
// them that a terminal would obey (ESC, BEL, a carriage return, the C1 controls) is shown as '?',
// and so is what is no UTF-8. Colours set through the stream itself pass. Wrap a stream in it
// before printing for people; JSON and HTML have escapes of their own.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace nvmove::support {

/// \p Text as Printable writes it.
std::string printable(llvm::StringRef Text);

/// Columns that \p Text takes on a terminal.
size_t columns(llvm::StringRef Text);

class Printable : public llvm::raw_ostream {
public:
  explicit Printable(llvm::raw_ostream &Out) : raw_ostream(/*unbuffered=*/true), Out(Out) {
    enable_colors(Out.colors_enabled());
  }

  llvm::raw_ostream &changeColor(enum Colors Color, bool Bold = false, bool BG = false) override;
  llvm::raw_ostream &resetColor() override;
  llvm::raw_ostream &reverseColor() override;
  bool is_displayed() const override { return Out.is_displayed(); }
  bool has_colors() const override { return Out.has_colors(); }

private:
  void write_impl(const char *Text, size_t Size) override;
  uint64_t current_pos() const override { return Out.tell(); }

  llvm::raw_ostream &Out;
};

} // namespace nvmove::support
