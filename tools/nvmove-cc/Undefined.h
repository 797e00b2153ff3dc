// Shared libraries that are linked with --no-undefined or -z defs, as meson does by default.
//
// A library finds libnvmove in the program that loads it, so its link leaves the library's names
// undefined. GNU ld is told these names, and still reports all others. lld, gold and mold know no
// such list: there the options are dropped, as people do it for the sanitizers.
#pragma once

#include <string>
#include <vector>

namespace nvmove::driver {

/// Whether \p Argument is, or may be a part of, an option that forbids undefined symbols.
bool forbidsUndefined(const std::string &Argument);

/// Whether these arguments of a link choose GNU ld.
bool linksWithGnuLd(const std::vector<std::string> &Passed);

/// The arguments without what forbids undefined symbols.
std::vector<std::string> withoutUndefinedChecks(const std::vector<std::string> &Passed);

} // namespace nvmove::driver
