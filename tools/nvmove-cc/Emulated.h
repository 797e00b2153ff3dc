// Links of programs that emulate slower memory: objects that were compiled without --emulate.
//
// Their accesses are not charged, so the program would seem faster than it is. Libraries of the system
// may well be such; objects of the program are a mistake. So a link says which there are.
#pragma once

#include <string>
#include <vector>

namespace nvmove::driver {

/// Of \p Inputs, files of a link, the objects and archives in which nothing was compiled with --emulate.
/// Bitcode counts as compiled with it: its sections are not named in plain text.
std::vector<std::string> withoutEmulation(const std::vector<std::string> &Inputs);

} // namespace nvmove::driver
