// `nvmove move`: from a program's source to a build that survives a kill, in one command.
//
// Each phase leaves what it makes in one folder, and is left out where that is there already and made of
// the same: the unchanged build, the types (scan), the port file (plan), the ported build. Then the
// program is killed and compared (src/move).
#pragma once

#include "nvmove/Arguments.h"

#include "llvm/Support/Error.h"

#include <map>
#include <string>

namespace nvmove::tool {

/// The folder with what `nvmove move` makes.
class MoveFolder {
public:
  explicit MoveFolder(const std::string &Path) : Path(Path) {}
  /// Makes the folder. An error if it cannot, or if something else is in it.
  llvm::Error open();
  std::string file(const char *Name) const { return Path + "/" + Name; }
  const std::string &path() const { return Path; }
  /// Whether the artefact \p Name is there, and was made of \p Of.
  bool isMade(const char *Name, const std::string &Of) const;
  /// From now on it is. An error if that cannot be written.
  llvm::Error noteMade(const char *Name, const std::string &Of);

private:
  std::string Path;
  std::map<std::string, std::string> Made; ///< artefact, digest of what it was made of
};

/// Whether an earlier `nvmove move` has made the folder \p Path.
bool isMoveFolder(const std::string &Path);

/// Names, sizes and times of all files in \p Folder but those that nvmove has made, as a short text.
std::string digestOfTree(const std::string &Folder);
std::string digestOfFile(const std::string &Path);
/// Of what else a build is made of: compiler, plugin and library, and the variables that compilers and make read.
std::string digestOfTools();

/// Joins what clang's -gen-cdb-fragment-path has left in \p Fragments to the compile database \p Path. How
/// many sources it has; those that are gone (of configure's tests) are left out.
llvm::Expected<size_t> joinFragments(const std::string &Fragments, const std::string &Path);

} // namespace nvmove::tool
