// printf and scanf formats: see Formats.h. Sizes are those of the LP64 model.
#include "unsafe/Formats.h"

#include "nvmove/abi_scanf.h"

#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace llvm;

namespace nvmove::plugin {
namespace {

struct Modifier {
  StringRef Text;
  uint64_t Size; ///< bytes that %n stores under it
};

// Longest first.
const Modifier Modifiers[] = {
    {"hh", 1}, {"ll", 8}, {"h", 2}, {"l", 8}, {"j", 8},
    {"z", 8},  {"t", 8},  {"q", 8}, {"L", 8}, {"", 4},
};

const Modifier &takeModifier(StringRef &Format) {
  for (const Modifier &M : Modifiers)
    if (Format.consume_front(M.Text))
      return M;
  llvm_unreachable("the last modifier is empty");
}

/// Behind a `%` or `*`: the argument that "N$" names, counted from 0. None is named without it.
std::optional<unsigned> takePosition(StringRef &Format) {
  StringRef Rest = Format;
  unsigned Position = 0;
  if (Rest.consumeInteger(10, Position) || !Position || !Rest.consume_front("$"))
    return std::nullopt;
  Format = Rest;
  return Position - 1;
}

/// Skips what may stand between % and its modifier; counts each `*` that takes the next argument.
unsigned skipFlags(StringRef &Format) {
  unsigned Stars = 0;
  while (!Format.empty() &&
         (isDigit(Format.front()) || StringRef("-+ #0'.*I").contains(Format[0]))) {
    bool IsStar = Format.front() == '*';
    Format = Format.drop_front();
    Stars += IsStar && !takePosition(Format);
  }
  return Stars;
}

} // namespace

SmallVector<FormatStore> scanfStores(StringRef Format) {
  SmallVector<FormatStore> Found;
  std::string Text = Format.str();
  struct nvm_scan Scan = {Text.c_str(), 1, 0};
  for (struct nvm_scan_store S; nvm_scan_next(&Scan, &S);) {
    bool Unbounded = !S.characters;
    Found.push_back({S.argument, Unbounded ? S.each : S.characters * S.each + S.end, Unbounded});
  }
  return Found;
}

SmallVector<FormatStore> printfStores(StringRef Format) {
  SmallVector<FormatStore> Found;
  unsigned Argument = 0;
  while (true) {
    size_t At = Format.find('%');
    if (At == StringRef::npos)
      return Found;
    Format = Format.substr(At + 1);
    std::optional<unsigned> Position = takePosition(Format);
    Argument += skipFlags(Format);
    const Modifier &M = takeModifier(Format);
    if (Format.empty())
      return Found;
    char Conversion = Format.front();
    Format = Format.drop_front();
    if (Conversion == 'n')
      Found.push_back({Position.value_or(Argument), M.Size, false});
    Argument += !Position && Conversion != '%' && Conversion != 'm'; // glibc's %m takes no argument
  }
}

} // namespace nvmove::plugin
