// One run of the driver: what the user wrote, and the clang command that it becomes.
#pragma once

#include "Options.h"

namespace nvmove::driver {

/// Where clang and the parts of nvmove are. The driver finds them relative to its own place, which
/// is `bin/` of a build tree or of an installation.
struct Installation {
  std::string Clang, Plugin, Runtime, Include;
  std::string Admin;     ///< libnvmove_admin.a, which uses Runtime
  std::string Raw;       ///< libnvmove_raw.a
  std::string Outputs;   ///< libnvmove_outputs.a
  std::string Observe;   ///< libnvmove_observe.a
  std::string Undefined; ///< what GNU ld is told of the names of both, in a library's link
  std::string Cxx;       ///< what goes before the headers of libstdc++
  std::vector<std::string> UnsafeFiles;
};

struct Invocation {
  std::vector<std::string> Passed;    ///< to clang, in the user's order
  std::vector<std::string> Plugin;    ///< "NAME=VALUE" of options that concern the plugin
  std::vector<std::string> Inputs;    ///< files, by their names
  std::vector<std::string> Assembler; ///< sources that no plugin sees, to be warned about
  std::vector<std::string> Uncharged; ///< objects of an emulating program that wait nowhere
  bool WarningsFail = false;          ///< so that what is warned about ends the run
  std::string Runtime, Clang;         ///< as --nvmove-runtime and --nvmove-clang say
  bool Help = false;
  bool Observed = false; ///< no plugin and no libnvmove, but notes of what is allocated
  bool Verbose = false;
  bool Plain = false;       ///< no compilation, or switched off: clang alone
  bool StopsBefore = false; ///< nothing is linked
  bool NoRuntime = false;
  bool Shared = false; ///< one of those: -shared
  bool NoLibraries = false;
  bool HasInput = false; ///< something to link
  std::string Language;  ///< that of the last -x; empty: there was none
  bool Static = false;
  bool Sanitized = false;
  std::string Error; ///< what is wrong with the command line; empty: nothing
};

/// Sorts the arguments. Response files are looked into, and stay as they are unless they hold
/// options of our own.
Invocation parse(const std::vector<std::string> &Arguments);

Installation findInstallation(bool Cxx);

/// The command to run. An error, for a part that is missing, comes in \p Error.
std::vector<std::string> compose(const Invocation &I, const Installation &Found,
                                 std::string &Error);

/// The command as a shell would take it.
std::string quoted(const std::vector<std::string> &Command);

} // namespace nvmove::driver
