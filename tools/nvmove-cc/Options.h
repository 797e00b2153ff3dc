// What the driver knows of command lines: its own options, and the few of clang's that decide
// whether anything is linked. Everything else passes through unread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nvmove::driver {

/// An option of nvmove-cc itself: `--nvmove-NAME` or `--nvmove-NAME=VALUE`.
struct OwnOption {
  enum class Use { Plugin, Help, Runtime, Clang, Observe };
  std::string_view Name;
  std::string_view Value; ///< how the help shows it; empty: takes none
  std::string_view Text;
  Use For;
};

extern const std::vector<OwnOption> OwnOptions;

/// The option that \p Argument spells, or null.
const OwnOption *findOwn(std::string_view Argument);

/// "; did you mean '--nvmove-checked'?" or "".
std::string didYouMean(std::string_view Argument);

/// What an argument of clang's means for linking.
enum class Meaning {
  None,
  TakesValue,  ///< the next argument is its value, not an input
  StopsBefore, ///< nothing is linked: -c, -E, -S, ...
  NoRuntime,   ///< linked, but not into a program that the runtime belongs in: -shared, -r, ...
  NoLibraries, ///< linked with nothing but what is named: -nodefaultlibs
  Language,    ///< -x: what follows is read as the language it names
  Plain        ///< not a compilation at all: -cc1
};

Meaning meaningOf(std::string_view Argument);

/// Whether an input is a header, to be precompiled: \p Language, of -x, says so or else its name.
bool isHeader(std::string_view Input, std::string_view Language);

} // namespace nvmove::driver
