// A pool as the tools have it: nobody else has it open, its program is not here.
//
// Looked at: through a copy-on-write view, in which it is recovered, so nothing reaches the file. A
// program that would open it meanwhile is told that it is open: the view shows the file's own pages.
// Changed: opened as a program opens it. Words of the runtime's own messages become errors.
#pragma once

#include "nvmove/inspect.h"

#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace nvmove::pool {

class OpenPool {
public:
  static llvm::Expected<OpenPool> look(const std::string &Path);
  static llvm::Expected<OpenPool> change(const std::string &Path);
  /// A new one; longer ones than \p Size it becomes by itself. Those may read and write it who may do
  /// so with the file \p Like, as far as the caller can give that, and nobody else.
  static llvm::Expected<OpenPool> create(const std::string &Path, uint64_t Size,
                                         const std::string &Like);

  OpenPool(OpenPool &&Other) noexcept : Pool(std::exchange(Other.Pool, nullptr)) {}
  OpenPool &operator=(OpenPool &&) = delete;
  ~OpenPool();

  NVM_POOL *get() const { return Pool; }
  /// Makes what was changed durable; an error when that fails.
  llvm::Error close();

private:
  explicit OpenPool(NVM_POOL *Pool) : Pool(Pool) {}
  NVM_POOL *Pool;
};

/// As long as it lives no program opens the pool, so that several looks are at one state. Where some
/// process has it open, the first of them says so.
class Hold {
public:
  explicit Hold(const std::string &Path);
  Hold(const Hold &) = delete;
  ~Hold();

private:
  int File;
};

/// What the runtime said last.
llvm::Error lastError();

} // namespace nvmove::pool
