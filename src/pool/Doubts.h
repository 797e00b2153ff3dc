// Pointers that may lead to the end of an array, or to what begins at the same byte.
//
// A pointer that C calls the end of an array has the address of what lies behind the array: of the next block where the
// array fills its own, or of the record's next member. In the new pool both may lie apart. The pointer is in doubt if
// its type fits both, and another pointer of the same type in its record leads into the array (begin, end). What the
// field means everywhere else decides: ends, where nothing begins behind the array, or things that begin. Where it
// means both or nobody knows, the map has to say it ('ends', 'begins').
#pragma once

#include "pool/BlockMap.h"
#include "pool/Pointees.h"

#include "nvmove/convert.h"

namespace nvmove::pool {

/// A word of a block that has a type.
struct Word {
  nvm_word Is;        ///< among the bytes of the new block
  uint64_t Offset;    ///< of these bytes
  uint64_t Address;   ///< in the old pool, without tag
  uint64_t Place = 0; ///< in the new pool, if it is in no doubt; 0: it leads nowhere in the pool
};

class Doubts {
public:
  Doubts(const BlockMap &Blocks, const Pointees &Leads, const FieldMap &Map)
      : Blocks(Blocks), Leads(Leads), Map(Map) {}

  /// All words of a block.
  void look(const Block &In, llvm::ArrayRef<Word> Words);

  /// A pointer that leads to an end.
  struct End {
    char *At;       ///< in the new pool
    uint64_t Place; ///< it leads there
    uint64_t Tag;   ///< bits of the pointer that are no part of the address
  };
  /// Once all blocks were looked at.
  llvm::Expected<std::vector<End>> resolve() const;

private:
  struct Use {
    const nvm_type *Type; ///< of the block
    bool Ends = false, Begins = false;
    std::vector<End> Open;
    std::string First; ///< "struct vector at @0x1040"
  };

  void lookAt(const Block &In, const Word &W, llvm::ArrayRef<const Word *> Beside);

  const BlockMap &Blocks;
  const Pointees &Leads;
  const FieldMap &Map;
  std::map<const nvm_field *, Use> Uses;
  std::map<const nvm_type *, Record> Shapes;
};

} // namespace nvmove::pool
