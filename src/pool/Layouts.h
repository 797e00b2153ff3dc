// The layouts that a program was compiled with, or that a pool has: read from the file, without
// running anything.
#pragma once

#include "pool/OpenPool.h"

#include "llvm/ADT/ArrayRef.h"
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

  /// Several when sources have types of the same tag. In a pool only those with blocks count; when
  /// none has any, the youngest.
  llvm::ArrayRef<const nvm_type *> named(llvm::StringRef Name) const {
    auto At = ByName.find(Name);
    return At == ByName.end() ? std::nullopt : llvm::ArrayRef(At->second);
  }
  /// Null: there is none. In a pool also one that has no block any more.
  const nvm_type *find(uint64_t Id) const { return ById.lookup(Id); }

private:
  struct Storage;
  void add(const nvm_type *Type);
  llvm::Error forgetFormer(NVM_POOL *Pool);

  llvm::StringMap<std::vector<const nvm_type *>> ByName;
  llvm::DenseMap<uint64_t, const nvm_type *> ById;
  std::shared_ptr<OpenPool> Source;     ///< whose layouts they are
  std::shared_ptr<Storage> FromProgram; ///< or here
};

} // namespace nvmove::pool
