// The file system that a compilation sees: the real one, read only, with lists of what it opened
// and of what it did not find.
//
// Every file that is opened is written down, whatever it is read as: a source, a precompiled header,
// bytes for #embed, a configuration of the driver. Files that are used without being opened here
// (what a precompiled header was made of) come from others, by used().
//
// A file that is not there says as much as one that is: a header that appears in a folder searched
// earlier hides the one that was read, and __has_include turns true. Every look that fails is
// written down, whoever asked. What __has_include finds has to be there, whatever it is.
//
// Devices, pipes and sockets are not there for a compilation (but for /dev/null, which build
// systems include): a source that names one would wait for ever.
#pragma once

#include "llvm/Support/VirtualFileSystem.h"

#include <set>
#include <string>

namespace nvmove::scan {

class ReadFiles : public llvm::vfs::ProxyFileSystem {
public:
  ReadFiles() : ProxyFileSystem(llvm::vfs::createPhysicalFileSystem().release()) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override;
  bool exists(const llvm::Twine &Path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine &Path) override;

  /// Adds \p Path to read().
  void used(const llvm::Twine &Path) { note(Path, Read); }

  /// Only whether \p Path is there counts: __has_include has found it, or it is a folder.
  void found(const llvm::Twine &Path) { note(Path, Present); }

  /// Absolute paths of files that the compilation depends on.
  const std::set<std::string> &read() const { return Read; }
  /// Absolute paths that were asked for and not found.
  const std::set<std::string> &absent() const { return Absent; }

  /// Absolute paths that were asked for and found, and are not read for that.
  const std::set<std::string> &present() const { return Present; }

private:
  void note(const llvm::Twine &Path, std::set<std::string> &Paths);

  std::set<std::string> Read, Absent, Present;
};

} // namespace nvmove::scan
