// The last line of a command: "note: next: ..." names the step that comes after it, in the order that
// `nvmove --help` gives. It goes to stderr, so it never is a part of a result.
//
// A step is a command that can be typed, where this one knows its arguments. A command after which nothing has to
// be done, such as a look at a pool, names none.
#pragma once

#include "nvmove/Arguments.h"

namespace nvmove::tool {

/// The port file that a step names where the user has named none.
constexpr const char *UsualPortFile = "port.nvmove.yaml";

/// Prints \p Step, once the results are out. Prints nothing for an empty one, with --quiet, where stdout has a
/// format for machines, and where this command is a part of another one.
void tellNext(const Arguments &A, const std::string &Step);

/// "nvmove plan -p build --load f": \p Command with what it asks of the source, as the shell takes it. The flags
/// of the compiler come last, so \p Options stand before them. \p Loads replace those of \p A.
std::string asked(const std::string &Command, const Arguments &A,
                  const std::vector<std::string> &Loads, const std::string &Options = "");

} // namespace nvmove::tool
