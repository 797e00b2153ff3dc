// Pointers that may lead to the end of an array, or to what begins at the same byte.
//
// A pointer that C calls the end of an array has the address of what lies behind the array: of the next block where the
// array fills its own, or of the record's next member. In the new pool both may lie apart. The pointer is in doubt if
// its type fits both, and another pointer of the same type in its object leads into the array (begin, end). What the
// field means everywhere else decides: ends, where nothing begins behind the array, or things that begin. What nothing
// else leads to begins there, or it would be lost. Where a field means both or nobody knows, the map has to say it
// ('ends', 'begins'). Behind a single object something begins unless other values of the field are ends.
#pragma once

#include "pool/BlockMap.h"
#include "pool/Pointees.h"

#include "nvmove/convert.h"

#include "llvm/ADT/DenseMap.h"

namespace nvmove::pool {

/// A word of a block that has a type.
struct Word {
  nvm_word Is;        ///< among the bytes of the new block
  uint64_t Offset;    ///< of these bytes
  uint64_t Address;   ///< in the old pool, without tag
  uint64_t Place = 0; ///< in the new pool, if it is in no doubt; 0: it leads nowhere in the pool
  std::string NoStart = {}; ///< why it cannot be carried over unless it is an end; empty: it can
};

class Doubts {
public:
  Doubts(const BlockMap &Blocks, const Pointees &Leads, const FieldMap &Map)
      : Blocks(Blocks), Leads(Leads), Map(Map) {}

  /// A pointer that leads there is in no block.
  void lookAtRoot(uint64_t Address) { count(nullptr, Address); }
  /// All words of a block.
  void look(const Block &In, llvm::ArrayRef<Word> Words);

  /// A pointer that leads to an end.
  struct Ending {
    char *At;                      ///< in the new pool
    std::optional<uint64_t> Place; ///< it leads there; none: the array has another length
    uint64_t Tag;                  ///< bits of the pointer that are no part of the address
  };
  /// Once all blocks were looked at.
  llvm::Expected<std::vector<Ending>> resolve();

private:
  enum Meaning { Unknown, Begin, End, Both };
  struct Use;
  struct Doubt {
    Ending Of;           ///< if it is one
    const Block *Behind; ///< begins there; null: it is inside of one
    bool HasSeveral;     ///< objects end there
    bool IsRatherEnd;    ///< the pointer's type fits what ends better than what begins
    std::string NoStart; ///< of the word
    /// What else of the object leads to the same byte, where nothing leads into what ends there.
    std::vector<const Use *> Beside;
  };
  /// Of a field; of a short array of pointers each may mean something else.
  struct Use {
    const nvm_type *Type = nullptr; ///< that has the field
    const nvm_field *Field = nullptr;
    bool Ends = false, Begins = false;
    std::vector<Doubt> Open;
    std::string First; ///< of these, "struct vector at @0x1040"
  };
  using WordUse = std::pair<const Word *, Use *>;
  struct Shape {
    Record Is;
    bool IsOne = false; ///< a block is one object
  };
  /// Pointers of the same object: of the whole, or of an element of an array of records in it.
  struct Neighbours {
    const Word *Before;           ///< the last one that leads to a byte before; null: there is none
    const Word *Alike;            ///< of those that point to the same type
    const Word *After;            ///< the next one that leads to a byte behind; null: there is none
    llvm::ArrayRef<WordUse> Same; ///< those that lead to the same byte: also the word itself
  };

  const Shape &shapeOf(const TypePlan &Plan);
  void count(const Block *In, uint64_t Address);
  void lookAtObject(const Block &In, uint64_t Begin, llvm::ArrayRef<const Word *> Object);
  void lookAt(const Block &In, const Word &W, Use &Of, const Neighbours &Near);
  bool isOnly(const Doubt &D) const;
  Meaning saidOf(const Use &Of) const;
  Meaning meaningOf(const Use &Of) const;
  Meaning meaningOf(const Use &Of, const Doubt &D) const;

  const BlockMap &Blocks;
  const Pointees &Leads;
  const FieldMap &Map;
  std::map<const TypePlan *, Shape> Shapes;
  std::map<std::pair<const nvm_field *, uint64_t>, Use> Uses; ///< and where in its element
  llvm::DenseMap<const Block *, uint64_t>
      Counts; ///< pointers from elsewhere that lead into a block
};

} // namespace nvmove::pool
