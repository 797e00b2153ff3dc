// The layouts that a program was compiled with, or that a pool has: read from the file, without
// running anything.
#pragma once

#include "pool/OpenPool.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <memory>

namespace nvmove::pool {

class Layouts {
public:
  /// Of a program or shared object that nvmove-cc has linked, or of a pool.
  static llvm::Expected<Layouts> read(const std::string &Path);
  /// Of an open pool, as long as it is open.
  static llvm::Expected<Layouts> of(NVM_POOL *Pool);

  /// Null: there is none of that name.
  const nvm_type *find(llvm::StringRef Name) const { return ByName.lookup(Name); }
  const nvm_type *find(uint64_t Id) const { return ById.lookup(Id); }

private:
  struct Storage;
  void add(const nvm_type *Type);

  llvm::StringMap<const nvm_type *> ByName;
  llvm::DenseMap<uint64_t, const nvm_type *> ById;
  std::shared_ptr<OpenPool> Source;     ///< whose layouts they are
  std::shared_ptr<Storage> FromProgram; ///< or here
};

} // namespace nvmove::pool
