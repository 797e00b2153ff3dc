// What the user asked of the plugin: the `--nvmove-*` options that concern the compilation. They
// reach the front-end half as `-fplugin-arg-nvmove-NAME=VALUE`; the IR half runs in the same
// process and reads the same object.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nvmove::plugin {

struct Settings {
  llvm::StringSet<> Atomic;             ///< functions each call of which is one transaction
  llvm::StringSet<> Commit;             ///< functions on whose entry what is open commits
  llvm::StringSet<> Split;              ///< the same, if it is long
  std::string Port;                     ///< the port file, or empty
  std::vector<std::string> UnsafeFiles; ///< write sets of pre-compiled functions, read in order
  llvm::StringSet<> InstalledUnsafe;    ///< of these, nvmove's own
  bool Checked = false;                 ///< check each pointer that is stored
  bool LockedAtomics = false; ///< atomic read-modify-write is protected by a lock: note it
  bool Trace = false;         ///< tell the runtime of each store, for `nvmove crash`
  bool Raw = false;           ///< of a program that flushes and fences by itself: no notes
  bool Emulates = false;      ///< accesses to persistent types wait: no notes
  std::string EmulateProfile; ///< unless the environment says another
  std::vector<std::string> EmulateTypes; ///< files of their names
  enum class Accesses { None, Source, Optimized };
  Accesses Loads =
      Accesses::None;        ///< charged or announced: all, or those that optimisation has left
  bool Redirect = false;     ///< loads and stores of persistent memory are calls
  bool Remarks = false;      ///< print the summary
  bool Warnings = true;      ///< writes that cannot be covered are warned about
  bool WarningsFail = false; ///< and are errors
  bool GlobalsMayPersist = false; ///< a linker script places globals in the reserved range
};

/// The settings of this compilation.
Settings &settings();

/// Takes one "name=value" or "name". An error names the argument that was not understood.
llvm::Error parseSetting(llvm::StringRef Argument, Settings &To);

/// Every name that parseSetting understands, for tests.
std::vector<std::string> settingNames();

} // namespace nvmove::plugin
