// Carries the blocks of a pool over to a new one, of a program whose types have changed.
#pragma once

#include "pool/Convert.h"
#include "pool/Doubts.h"
#include "pool/Layouts.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <set>

namespace nvmove::pool {

class Converter {
public:
  using ProgressFunction = llvm::function_ref<void(uint64_t, uint64_t)>;
  Converter(NVM_POOL *Old, uint64_t Size, NVM_POOL *New, const Layouts &Were,
            const Layouts &Program, const FieldMap &Map, ProgressFunction Progress)
      : Old(Old), New(New), Were(Were), Program(Program), Map(Map), Progress(Progress),
        Leads(Were, Program, Map), Blocks(Old, Size), Doubtful(Blocks, Leads, Map) {}

  llvm::Error run();
  Converted Done;

private:
  static bool visitBlock(void *Context, const nvm_block *Seen);
  static bool visitWord(void *Context, const nvm_word *Word);

  llvm::Expected<const TypePlan *> planOf(const nvm_type *Type);
  llvm::Error describe(const nvm_type &Type);
  static llvm::Error checkEnds(const TypeChange *Change, const nvm_type &Type);
  void noteRecords(const Record &Of);
  llvm::Error take(const nvm_block &Seen);
  llvm::Error allocate(Block &B);
  llvm::Error checkPadding(const Block &B, const char *Bytes) const;
  llvm::Error convertBytes(const Block &B, std::vector<char> &Bytes);
  llvm::Error fill(Block &B);
  llvm::Error translate(Word &W);
  llvm::Error moveEnds();
  llvm::Error each(llvm::function_ref<llvm::Error(Block &)> Do);
  std::vector<const nvm_type *> typesOf(const TypeChange &T) const;
  llvm::Error checkMap();
  llvm::Error checkHeard() const;

  NVM_POOL *Old, *New;
  const Layouts &Were, &Program;
  const FieldMap &Map;
  ProgressFunction Progress;
  std::map<const nvm_type *, TypePlan> Plans;
  Pointees Leads;
  std::set<const FieldChange *> Heard;   ///< of types of records in other records
  std::set<std::string> InRecords;       ///< types of records in the pool's records
  std::set<const nvm_field *> ToObjects; ///< of which a note says that
  BlockMap Blocks;
  Doubts Doubtful;
  std::vector<Word> Words; ///< of the current block
  llvm::Error Failure = llvm::Error::success();
  const Block *Current = nullptr;
};

} // namespace nvmove::pool
