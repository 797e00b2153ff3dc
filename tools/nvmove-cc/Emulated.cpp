// Objects without emulation: see Emulated.h.
#include "Emulated.h"

#include "nvmove/abi.h"

#include <fstream>
#include <iterator>

namespace nvmove::driver {
namespace {

bool endsWith(const std::string &Text, std::string_view End) {
  return Text.size() >= End.size() && Text.compare(Text.size() - End.size(), End.size(), End) == 0;
}

bool holds(const std::string &Bytes, std::string_view What) {
  return Bytes.find(What) != std::string::npos;
}

/// Each source that was compiled with --emulate has that section, be there types in it or not.
bool isWithout(const std::string &Path) {
  std::ifstream File(Path, std::ios::binary);
  std::string Bytes{std::istreambuf_iterator<char>(File), {}};
  constexpr std::string_view Elf = "\177ELF", Archive = "!<arch>\n", Bitcode = "BC\xC0\xDE";
  bool IsKnown = Bytes.rfind(Elf, 0) == 0 || (Bytes.rfind(Archive, 0) == 0 && holds(Bytes, Elf));
  return IsKnown && !holds(Bytes, NVM_EMULATED_SECTION) && !holds(Bytes, Bitcode);
}

} // namespace

std::vector<std::string> withoutEmulation(const std::vector<std::string> &Inputs) {
  std::vector<std::string> Found;
  for (const std::string &Path : Inputs)
    if ((endsWith(Path, ".o") || endsWith(Path, ".lo") || endsWith(Path, ".a")) && isWithout(Path))
      Found.push_back(Path);
  return Found;
}

} // namespace nvmove::driver
