// Which functions a function pointer may hold, over the whole program and cheaply.
//
// Flow-insensitive and field-based: a record's field is one slot for all objects, a global is one
// slot. Good enough to resolve handler tables, vtables and registered callbacks wherever the
// points-to engine meets memory that was set up before the load. Where nothing is known, a call is
// resolved by signature over the functions whose address is taken.
#pragma once

#include "solve/program/Program.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SparseBitVector.h"

#include <set>
#include <vector>

namespace nvmove::solve {

class FunctionFlow {
public:
  explicit FunctionFlow(const Program &P);

  /// Functions that register \p R of \p In may hold; empty when nothing is known.
  const llvm::SparseBitVector<> &at(FunctionId In, facts::Register R) const;
  /// True when \p R was loaded from a field of a record of which some field holds functions: then
  /// an empty at() means that this one never holds any.
  bool knowsTable(FunctionId In, facts::Register R) const;
  /// Functions whose address is taken and whose type is exactly \p Signature.
  const std::vector<FunctionId> &bySignature(uint32_t Signature) const;

private:
  using Slot = uint32_t;

  Slot registerSlot(FunctionId In, facts::Register R);
  Slot slot(uint64_t Kind, uint64_t Key);
  Slot memorySlot(FunctionId In, const std::vector<const facts::Instruction *> &Defined,
                  facts::Register Address);
  void collect(FunctionId Id);
  void edge(Slot From, Slot To);
  void propagate();
  bool mayHoldFunction(const FunctionInfo &F, facts::Register R) const;

  const Program &P;
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, Slot> Slots;
  /// Functions in a slot, and those of them that its edges have not seen yet.
  std::vector<llvm::SparseBitVector<>> Held, Fresh;
  std::vector<std::vector<Slot>> Edges;
  llvm::DenseMap<std::pair<uint32_t, facts::Register>, RecordKey> LoadedFrom;
  std::set<RecordKey> Tables; ///< Records of which some field holds functions.
  llvm::DenseMap<uint32_t, std::vector<FunctionId>> Taken;
};

} // namespace nvmove::solve
