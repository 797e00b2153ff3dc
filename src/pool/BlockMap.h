// The blocks of a pool that is converted, and where what a pointer leads to lies in the new pool.
#pragma once

#include "pool/Starts.h"

#include <map>

namespace nvmove::pool {

/// A block of the old pool, and the new one that stands for it.
struct Block {
  const char *Old;
  uint64_t OldSize;
  const TypePlan *Plan; ///< null: without type
  uint64_t Count;       ///< objects, or elements of the flexible array
  char *New = nullptr;
  uint64_t NewSize = 0;
};

class BlockMap {
public:
  /// \p Size: of the old pool, bytes.
  BlockMap(NVM_POOL *Old, uint64_t Size);

  void add(const Block &B) { Blocks.push_back(B); }
  /// By address, after the last one was added.
  void sort();
  std::vector<Block> &all() { return Blocks; }

  /// Whether the address lies in the old pool. Also that of the end of a block that ends where the pool does.
  bool leadsIn(uint64_t Address) const;

  /// The address in the new pool. An error begins with \p What. \p NoStart: why it is not what begins there, and has to
  /// be the end of the block before.
  llvm::Expected<uint64_t> newPlace(uint64_t Address, const Pointee &Wanted,
                                    const llvm::Twine &What, std::string &NoStart) const;

  /// What ends there in the old pool: a block, or in a block an array that fits the pointer.
  std::optional<ArrayEnd> endAt(uint64_t Address, const Pointee &Wanted) const;
  /// The block that begins just there; null: none does.
  const Block *startingAt(uint64_t Address) const;
  /// What is known to begin there. Of a block without type nothing is.
  Starts startsThere(uint64_t Address) const;
  /// The block that has the byte; null: none has.
  const Block *blockAt(uint64_t Address) const {
    return blockWith(reinterpret_cast<const char *>(Address));
  }
  /// Whether an object begins there whose first record lies somewhere else in the new type.
  bool hasMovedRecord(uint64_t Address) const;
  bool isInSameBlock(uint64_t A, uint64_t B) const;

  /// "struct item at @0x1040", for messages.
  std::string placeOf(const Block &B) const;

private:
  /// Null: there is none.
  const Block *blockWith(const char *At) const;
  static bool isEnd(const Block &B, const char *At);
  Starts endsOf(const Block &B) const;
  llvm::Expected<uint64_t> placeIn(const Block &B, const char *At, const Pointee &Wanted) const;
  llvm::Expected<uint64_t> placeInside(const Block &B, uint64_t Inside,
                                       const Pointee &Wanted) const;
  llvm::Expected<uint64_t> endIn(const Block &B, const Pointee &Wanted) const;

  const char *Base;
  uint64_t Size;
  std::vector<Block> Blocks;
  mutable std::map<const TypePlan *, Starts> Ends; ///< of the last object of a block
};

} // namespace nvmove::pool
