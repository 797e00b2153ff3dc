// Notes before loops: see LoopNotes.h.
#include "ir/LoopNotes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// A write whose address moves by a constant step in each iteration (or not at all).
struct Moving {
  unsigned Index = 0; ///< into the writes
  const SCEV *Start = nullptr;
  int64_t Step = 0;    ///< bytes
  bool InLast = false; ///< executed in the iteration that leaves the loop, too
};

/// Writes of one loop that move together; their bytes [Lo, Hi) are relative to the first's start.
struct Group {
  SmallVector<Moving> Members;
  int64_t Lo = 0, Hi = 0;
};

class LoopCoalescer {
public:
  LoopCoalescer(Loop &L, ArrayRef<Access> Writes, const Commits &MayCommit,
                const LoopAnalyses &Analyses)
      : L(L), Writes(Writes), MayCommit(MayCommit), SE(Analyses.Evolution), DT(Analyses.Dominators),
        Taken(SE.getBackedgeTakenCount(&L)) {}

  /// Counted, left at one place, and nothing in it that keeps an iteration from completing.
  bool suits() const {
    if (!L.isInnermost() || !L.getLoopPreheader() || !L.getExitingBlock() || !L.getLoopLatch() ||
        isa<SCEVCouldNotCompute>(Taken) || SE.getTypeSizeInBits(Taken->getType()) > 64)
      return false;
    for (BasicBlock *B : L.blocks())
      for (Instruction &I : *B)
        if (I.isAtomic() || MayCommit.mayCommit(I) ||
            !isGuaranteedToTransferExecutionToSuccessor(&I))
          return false;
    return true;
  }

  void add(unsigned Index) {
    const Access &W = Writes[Index];
    BasicBlock *B = W.At->getParent();
    if (!W.Size || !DT.dominates(B, L.getLoopLatch()))
      return;
    Moving M;
    M.Index = Index;
    M.InLast = DT.dominates(B, L.getExitingBlock());
    const SCEV *Address = SE.getSCEV(W.Address);
    if (SE.isLoopInvariant(Address, &L)) {
      M.Start = Address;
      if (M.InLast) // else the loop may leave before it writes
        Candidates.push_back(M);
      return;
    }
    auto *Recurrence = dyn_cast<SCEVAddRecExpr>(Address);
    if (!Recurrence || Recurrence->getLoop() != &L || !Recurrence->isAffine())
      return;
    auto *Step = dyn_cast<SCEVConstant>(Recurrence->getStepRecurrence(SE));
    if (!Step || Step->getAPInt().getSignificantBits() > 32)
      return;
    M.Start = Recurrence->getStart();
    M.Step = Step->getAPInt().getSExtValue();
    Candidates.push_back(M);
  }

  void emit(BitVector &Pending, SmallVectorImpl<Note> &Notes) {
    while (!Candidates.empty()) {
      Group G = takeGroup();
      if (touches(G) || (G.Members.resize(1), fit(G), touches(G)))
        if (emitGroup(G, Notes))
          for (const Moving &M : G.Members)
            Pending.reset(M.Index);
    }
  }

private:
  /// Takes from the candidates the first and all that keep a constant distance to it.
  Group takeGroup() {
    Group G;
    SmallVector<Moving> Others;
    for (const Moving &M : Candidates) {
      const Moving &First = Candidates.front();
      bool Together = M.Step == First.Step && M.InLast == First.InLast && distance(M, First);
      (Together ? G.Members : Others).push_back(M);
    }
    Candidates = std::move(Others);
    fit(G);
    return G;
  }

  std::optional<int64_t> distance(const Moving &M, const Moving &From) const {
    if (M.Start == From.Start)
      return 0;
    auto *Difference = dyn_cast<SCEVConstant>(SE.getMinusSCEV(M.Start, From.Start));
    if (!Difference || Difference->getAPInt().getSignificantBits() > 32)
      return std::nullopt;
    return Difference->getAPInt().getSExtValue();
  }

  /// Computes the bytes of the group; leaves Hi = Lo when there is a hole between its members.
  void fit(Group &G) const {
    SmallVector<std::pair<int64_t, int64_t>> Ranges;
    for (const Moving &M : G.Members) {
      int64_t Lo = *distance(M, G.Members.front());
      Ranges.emplace_back(Lo, Lo + static_cast<int64_t>(Writes[M.Index].Size));
    }
    sort(Ranges);
    G.Lo = Ranges.front().first;
    G.Hi = Ranges.front().second;
    for (auto [Lo, Hi] : Ranges) {
      if (Lo > G.Hi)
        G.Hi = G.Lo;
      if (G.Hi == G.Lo)
        return;
      G.Hi = std::max(G.Hi, Hi);
    }
  }

  /// True when the bytes of one iteration touch those of the next.
  bool touches(const Group &G) const {
    int64_t Width = G.Hi - G.Lo, Step = std::abs(G.Members.front().Step);
    return Width && (Width == Step || (Width > Step && G.Members.front().InLast));
  }

  bool emitGroup(const Group &G, SmallVectorImpl<Note> &Notes) {
    const Moving &First = G.Members.front();
    Instruction *At = L.getLoopPreheader()->getTerminator();
    Type *Word = Type::getInt64Ty(At->getContext());
    const SCEV *Repeats = SE.getNoopOrZeroExtend(Taken, Word); // of the step, after the first write
    const SCEV *Moved = SE.getMulExpr(Repeats, SE.getConstant(Word, std::abs(First.Step)));
    // Written InLast, there is one write more than back edges taken.
    const SCEV *Length =
        First.InLast ? SE.getAddExpr(Moved, SE.getConstant(Word, G.Hi - G.Lo)) : Moved;
    const SCEV *Low = SE.getAddExpr(First.Start, SE.getConstant(Word, G.Lo, /*isSigned=*/true));
    if (First.Step < 0) {
      const SCEV *Back =
          First.InLast ? Moved : SE.getMinusSCEV(Moved, SE.getConstant(Word, -First.Step));
      Low = SE.getMinusSCEV(Low, Back);
    }
    SCEVExpander Expander(SE, L.getHeader()->getDataLayout(), "nvmove");
    if (!Expander.isSafeToExpandAt(Low, At) || !Expander.isSafeToExpandAt(Length, At))
      return false;
    Note N;
    N.Before = At;
    N.Address = Expander.expandCodeFor(Low, Writes[First.Index].Address->getType(), At);
    if (auto *Known = dyn_cast<SCEVConstant>(Length))
      N.Size = Known->getAPInt().getZExtValue();
    if (!N.Size)
      N.Length = Expander.expandCodeFor(Length, Word, At);
    Notes.push_back(N);
    return true;
  }

  Loop &L;
  ArrayRef<Access> Writes;
  const Commits &MayCommit;
  ScalarEvolution &SE;
  DominatorTree &DT;
  const SCEV *Taken; ///< back edges taken: iterations less one
  SmallVector<Moving> Candidates;
};

} // namespace

SmallVector<Note> coalesceLoops(Function &F, ArrayRef<Access> Writes, BitVector &Pending,
                                const Commits &MayCommit, const LoopAnalyses &Analyses) {
  MapVector<Loop *, SmallVector<unsigned>> ByLoop;
  for (unsigned N : Pending.set_bits())
    if (Writes[N].Kind == AccessKind::Store || Writes[N].Kind == AccessKind::Copy ||
        Writes[N].Kind == AccessKind::Load)
      if (Loop *L = Analyses.Loops.getLoopFor(Writes[N].At->getParent()))
        ByLoop[L].push_back(N);
  SmallVector<Note> Notes;
  for (auto &[L, Indices] : ByLoop) {
    LoopCoalescer Coalescer(*L, Writes, MayCommit, Analyses);
    if (!Coalescer.suits())
      continue;
    for (unsigned Index : Indices)
      Coalescer.add(Index);
    Coalescer.emit(Pending, Notes);
  }
  return Notes;
}

} // namespace nvmove::plugin
