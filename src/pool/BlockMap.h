// The blocks of a pool that is converted, and where what a pointer leads to lies in the new pool.
#pragma once

#include "pool/Starts.h"

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

  /// The address in the new pool. An error begins with \p What.
  llvm::Expected<uint64_t> newPlace(uint64_t Address, const Pointee &Wanted,
                                    const llvm::Twine &What) const;

  /// The place in the new pool of the end of an array of several elements, if one that fits the pointer ends there in
  /// the old pool.
  std::optional<uint64_t> endAt(uint64_t Address, const Pointee &Wanted) const;
  /// Whether something begins there that fits the pointer.
  bool beginsAt(uint64_t Address, const Pointee &Wanted) const;
  /// Whether an object begins there whose first record lies somewhere else in the new type.
  bool hasMovedRecord(uint64_t Address) const;
  bool isInSameBlock(uint64_t A, uint64_t B) const;

  /// "struct item at @0x1040", for messages.
  std::string placeOf(const Block &B) const;

private:
  /// Null: there is none.
  const Block *blockWith(const char *At) const;
  static bool isEnd(const Block &B, const char *At);
  static bool meansEnd(const Block &Before, const Block &B, const char *At, const Pointee &Wanted);
  llvm::Expected<uint64_t> placeInside(const Block &B, uint64_t Inside,
                                       const Pointee &Wanted) const;
  llvm::Expected<uint64_t> endIn(const Block &B, const Pointee &Wanted) const;

  const char *Base;
  uint64_t Size;
  std::vector<Block> Blocks;
};

} // namespace nvmove::pool
