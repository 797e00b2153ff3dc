// See Printable.h.
#include "support/Printable.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"

namespace nvmove::support {

std::string printable(llvm::StringRef Text) {
  std::string Made;
  while (!Text.empty()) {
    unsigned char First = static_cast<unsigned char>(Text[0]);
    size_t Size = llvm::getNumBytesForUTF8(First);
    bool Legal = Size <= Text.size() &&
                 llvm::isLegalUTF8Sequence(Text.bytes_begin(), Text.bytes_begin() + Size);
    bool Control = First < 0x20 ? First != '\n' && First != '\t'
                                : First == 0x7f || (First == 0xc2 && Legal &&
                                                    static_cast<unsigned char>(Text[1]) < 0xa0);
    if (!Legal)
      Size = 1;
    Made += Legal && !Control ? Text.take_front(Size).str() : "?";
    Text = Text.drop_front(Size);
  }
  return Made;
}

size_t columns(llvm::StringRef Text) {
  int Width = llvm::sys::unicode::columnWidthUTF8(printable(Text));
  return Width < 0 ? Text.size() : static_cast<size_t>(Width);
}

llvm::raw_ostream &Printable::changeColor(enum Colors Color, bool Bold, bool BG) {
  Out.changeColor(Color, Bold, BG);
  return *this;
}

llvm::raw_ostream &Printable::resetColor() {
  Out.resetColor();
  return *this;
}

llvm::raw_ostream &Printable::reverseColor() {
  Out.reverseColor();
  return *this;
}

void Printable::write_impl(const char *Text, size_t Size) {
  Out << printable(llvm::StringRef(Text, Size));
}

} // namespace nvmove::support
