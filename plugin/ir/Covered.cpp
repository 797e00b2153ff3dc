// The data-flow behind "already noted": see Covered.h.
#include "ir/Covered.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

// Two bits for every fact in every block: beyond this (128 MiB) a generated function keeps its
// notes.
constexpr uint64_t StateBitsMax = UINT64_C(1) << 30;

struct Fact {
  const Value *Base = nullptr;
  int64_t Lo = 0, Hi = 0;
};

class CoverageFinder {
public:
  CoverageFinder(Function &F, ArrayRef<Access> Writes, const Commits &MayCommit)
      : F(F), Writes(Writes), MayCommit(MayCommit) {
    for (unsigned N = 0; N < Writes.size(); ++N) {
      WritesAt[Writes[N].At].push_back(N);
      FactOf.push_back(addFact(factOf(Writes[N])));
    }
  }

  BitVector run() {
    BitVector Result(Writes.size());
    if (uint64_t(Facts.size()) * F.size() > StateBitsMax)
      return Result;
    solve();
    for (BasicBlock *B : ReversePostOrderTraversal<Function *>(&F)) {
      BitVector State = entryState(*B);
      for (Instruction &I : *B) {
        auto Found = WritesAt.find(&I);
        if (Found != WritesAt.end())
          for (unsigned N : Found->second)
            if (isCovered(N, State))
              Result.set(N);
        step(I, State);
      }
    }
    return Result;
  }

private:
  Fact factOf(const Access &W) const {
    if (!W.Size || !W.Address || W.Address->getType()->isVectorTy() ||
        W.Kind == AccessKind::Masked || W.Kind == AccessKind::Compress)
      return {};
    const DataLayout &DL = F.getDataLayout();
    APInt Offset(DL.getIndexTypeSizeInBits(W.Address->getType()), 0);
    Fact Made;
    Made.Base = W.Address->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/true);
    Made.Lo = Offset.getSExtValue();
    Made.Hi = Made.Lo + static_cast<int64_t>(W.Size);
    return Made;
  }

  /// Writes of the same bytes share a fact, so that it holds where either arm of an `if` made it.
  unsigned addFact(const Fact &Made) {
    if (!Made.Base)
      return NoFact;
    auto &Bits = BitsOfBase[Made.Base];
    for (unsigned Bit : Bits)
      if (Facts[Bit].Lo == Made.Lo && Facts[Bit].Hi == Made.Hi)
        return Bit;
    Bits.push_back(Facts.size());
    Facts.push_back(Made);
    return Bits.back();
  }

  /// Sets the fact of a write that was executed, and those of which it is the whole.
  void hold(unsigned N, BitVector &State) const {
    if (FactOf[N] == NoFact)
      return;
    const Fact &Made = Facts[FactOf[N]];
    for (unsigned Bit : BitsOfBase.find(Made.Base)->second)
      if (Made.Lo <= Facts[Bit].Lo && Facts[Bit].Hi <= Made.Hi)
        State.set(Bit);
  }

  /// What executing \p I does to the facts.
  void step(Instruction &I, BitVector &State) const {
    auto Found = WritesAt.find(&I);
    if (Found != WritesAt.end())
      for (unsigned N : Found->second)
        hold(N, State);
    if (MayCommit.mayCommit(I))
      State.reset();
    auto Based = BitsOfBase.find(&I);
    if (Based != BitsOfBase.end())
      for (unsigned Bit : Based->second)
        State.reset(Bit);
  }

  BitVector entryState(const BasicBlock &B) const {
    if (B.isEntryBlock())
      return BitVector(Facts.size());
    BitVector State(Facts.size(), true);
    for (const BasicBlock *Before : predecessors(&B)) {
      auto Found = AtEnd.find(Before);
      if (Found != AtEnd.end())
        State &= Found->second;
    }
    return State;
  }

  void solve() {
    // A block that was not visited yet stands for "every fact holds": the greatest solution.
    ReversePostOrderTraversal<Function *> Order(&F);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (BasicBlock *B : Order) {
        BitVector State = entryState(*B);
        for (Instruction &I : *B)
          step(I, State);
        auto [At, New] = AtEnd.try_emplace(B, State);
        if (!New && At->second != State)
          At->second = State;
        else if (!New)
          continue;
        Changed = true;
      }
    }
  }

  bool isCovered(unsigned N, const BitVector &State) const {
    if (FactOf[N] == NoFact)
      return false;
    const Fact &Wanted = Facts[FactOf[N]];
    SmallVector<const Fact *> Held;
    for (unsigned Bit : BitsOfBase.find(Wanted.Base)->second)
      if (State.test(Bit))
        Held.push_back(&Facts[Bit]);
    sort(Held, [](const Fact *A, const Fact *B) { return A->Lo < B->Lo; });
    int64_t Reached = Wanted.Lo;
    for (const Fact *H : Held)
      if (H->Lo <= Reached)
        Reached = std::max(Reached, H->Hi);
    return Reached >= Wanted.Hi;
  }

  Function &F;
  ArrayRef<Access> Writes;
  const Commits &MayCommit;
  static constexpr unsigned NoFact = ~0u;
  std::vector<Fact> Facts;
  std::vector<unsigned> FactOf; ///< of each write, or NoFact
  DenseMap<const Instruction *, SmallVector<unsigned, 1>> WritesAt;
  DenseMap<const Value *, SmallVector<unsigned, 4>> BitsOfBase;
  DenseMap<const BasicBlock *, BitVector> AtEnd;
};

} // namespace

BitVector findCovered(Function &F, ArrayRef<Access> Writes, const Commits &MayCommit) {
  return CoverageFinder(F, Writes, MayCommit).run();
}

} // namespace nvmove::plugin
