// printf and scanf formats: see Formats.h. Sizes are those of the LP64 model.
#include "Formats.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

struct Modifier {
  StringRef Text;
  uint64_t Integer, Real, Character; ///< bytes that a conversion stores under it
};

// Longest first. L stands for a long double of 80 bits in 16 bytes, and for long long.
const Modifier Modifiers[] = {
    {"hh", 1, 4, 1}, {"ll", 8, 4, 4}, {"h", 2, 4, 1}, {"l", 8, 8, 4},  {"j", 8, 4, 1},
    {"z", 8, 4, 1},  {"t", 8, 4, 1},  {"q", 8, 4, 1}, {"L", 8, 16, 1}, {"", 4, 4, 1},
};

const Modifier &takeModifier(StringRef &Format) {
  for (const Modifier &M : Modifiers)
    if (Format.consume_front(M.Text))
      return M;
  llvm_unreachable("the last modifier is empty");
}

/// Skips what may stand between % and its modifier; counts the `*` of printf.
unsigned skipFlags(StringRef &Format) {
  unsigned Stars = 0;
  while (!Format.empty() &&
         (isDigit(Format.front()) || StringRef("-+ #0'.*I").contains(Format[0]))) {
    Stars += Format.front() == '*';
    Format = Format.drop_front();
  }
  return Stars;
}

/// Skips the set of %[...]; `]` as its first character belongs to it.
void skipSet(StringRef &Format) {
  Format.consume_front("^");
  Format.consume_front("]");
  size_t End = Format.find(']');
  Format = End == StringRef::npos ? "" : Format.substr(End + 1);
}

/// Takes one scanf conversion behind its %; counts its argument.
void takeScanf(StringRef &Format, unsigned &Argument, SmallVectorImpl<FormatStore> &Found) {
  bool Suppressed = Format.consume_front("*");
  unsigned Width = 0;
  bool HasWidth = !Format.consumeInteger(10, Width);
  bool Allocates = Format.consume_front("m");
  const Modifier &M = takeModifier(Format);
  if (Format.empty())
    return;
  char Conversion = Format.front();
  Format = Format.drop_front();
  if (Conversion == '[')
    skipSet(Format);
  if (Conversion == '%' || Suppressed)
    return;
  FormatStore Store;
  Store.Argument = Argument++;
  if (Allocates || Conversion == 'p')
    Store.Size = sizeof(void *);
  else if (StringRef("eEfFgGaA").contains(Conversion))
    Store.Size = M.Real;
  else if (StringRef("sSc[C").contains(Conversion)) {
    bool Character = Conversion == 'c' || Conversion == 'C';
    uint64_t Each = Conversion == 'S' || Conversion == 'C' ? sizeof(wchar_t) : M.Character;
    Store.Unbounded = !Character && !HasWidth;
    uint64_t Characters = HasWidth ? Width + (Character ? 0 : 1) : 1;
    Store.Size = Each * Characters;
  } else
    Store.Size = M.Integer;
  Found.push_back(Store);
}

} // namespace

SmallVector<FormatStore> scanfStores(StringRef Format) {
  SmallVector<FormatStore> Found;
  unsigned Argument = 0;
  while (true) {
    size_t At = Format.find('%');
    if (At == StringRef::npos)
      return Found;
    Format = Format.substr(At + 1);
    takeScanf(Format, Argument, Found);
  }
}

SmallVector<FormatStore> printfStores(StringRef Format) {
  SmallVector<FormatStore> Found;
  unsigned Argument = 0;
  while (true) {
    size_t At = Format.find('%');
    if (At == StringRef::npos)
      return Found;
    Format = Format.substr(At + 1);
    Argument += skipFlags(Format);
    const Modifier &M = takeModifier(Format);
    if (Format.empty())
      return Found;
    char Conversion = Format.front();
    Format = Format.drop_front();
    if (Conversion == 'n')
      Found.push_back({Argument, M.Integer, false});
    Argument += Conversion != '%' && Conversion != 'm'; // glibc's %m takes no argument
  }
}

} // namespace nvmove::plugin
