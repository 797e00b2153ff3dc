// Decisions and notes for one function: see Instrument.h.
#include "Instrument.h"

#include "Early.h"
#include "base/Settings.h"
#include "emit/Abi.h"
#include "emulation/Marks.h"
#include "ir/BitFields.h"
#include "ir/Checked.h"
#include "ir/Covered.h"
#include "ir/Groups.h"
#include "ir/Origin.h"
#include "ir/VirtualCalls.h"
#include "trace/Trace.h"
#include "unsafe/UnknownCalls.h"
#include "unsafe/UnsafeCalls.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

Outcome outcomeOf(Origin From) {
  switch (From) {
  case Origin::Stack:
    return Outcome::Stack;
  case Origin::Global:
    return Outcome::Global;
  case Origin::Heap:
    return Outcome::VolatileHeap;
  case Origin::OtherSpace:
    return Outcome::OtherSpace;
  case Origin::Null:
    return Outcome::Null;
  case Origin::MayPersist:
    break;
  }
  llvm_unreachable("a write that may be persistent is not skipped for its origin");
}

class FunctionInstrumenter {
public:
  FunctionInstrumenter(Function &F, const UnsafeTable &Unsafe, const Commits &MayCommit,
                       const FunctionAnalyses &Analyses, LoadsMade &Loads, Report &R)
      : F(F), Unsafe(Unsafe), MayCommit(MayCommit), Analyses(Analyses), Loads(Loads), R(R) {}

  bool run() { return settings().Redirect ? runRedirected() : runNoted(); }

private:
  bool runNoted() {
    bool Announces = settings().Loads == Settings::Accesses::Optimized;
    auto Wants = [](const Access &A) { return settings().EmulateTypes.empty() || isMarkedRead(A); };
    LoadNotes Read(F, Unsafe, Analyses.Library, Wants);
    if (Announces)
      Read.find(MayCommit, Analyses.Loops, Loads.Announced);
    collect();
    BitVector Covered = findCovered(F, Writes, MayCommit);
    for (unsigned N : Covered.set_bits())
      count(Outcome::Covered, Writes[N]);
    BitVector Pending = Covered;
    Pending.flip();
    BitVector Single = Pending;
    SmallVector<Note> Notes = coalesceLoops(F, Writes, Single, MayCommit, Analyses.Loops);
    for (unsigned N : Pending.set_bits())
      count(Single.test(N) ? Outcome::Noted : Outcome::NotedOnce, Writes[N]);
    for (unsigned N : Single.set_bits())
      if (std::optional<Note> Made = noteFor(Writes[N]))
        Notes.push_back(*Made);
    setHeat(Notes);
    SmallVector<SmallVector<Note>> Groups = groupNotes(F, Notes);
    // Behind the stores, and only now: they part the blocks that groups lie in.
    if (settings().Trace) {
      traceStores(F, Writes);
      traceStores(F, Unnoted);
      traceCalls(F);
    }
    if (settings().Checked)
      checkStoredPointers(F, Writes);
    for (ArrayRef<Note> Group : Groups)
      emitGroup(Group);
    for (unsigned N : Single.set_bits())
      emitLanes(Writes[N]);
    for (const Access &Call : Calls)
      noteCall(Call);
    bool Announced = Announces && Read.place(Loads.Announced);
    return !Notes.empty() || Single.any() || NotedCall || Announced;
  }

  /// A note stands right before its write: a store that is a call in between may have put the bytes
  /// elsewhere.
  bool runRedirected() {
    Redirect Redirected(F, Unsafe, Analyses.Library);
    Redirected.find();
    collect();
    SmallVector<Access> Noted;
    for (const Access &A : Writes) {
      count(Outcome::Noted, A);
      if (!Redirect::takes(A))
        Noted.push_back(A);
    }
    if (settings().Trace) {
      traceStores(F, Noted);
      traceStores(F, Unnoted);
      traceCalls(F);
    }
    if (settings().Checked)
      checkStoredPointers(F, Writes);
    bool Settled = Redirected.settle(Loads.Redirected);
    for (const Access &A : Noted) {
      if (std::optional<Note> Made = noteFor(A))
        emitGroup({*Made});
      emitLanes(A);
    }
    for (const Access &Call : Calls)
      noteCall(Call);
    bool Replaced = Redirected.replace(Loads.Redirected);
    return !Noted.empty() || NotedCall || Settled || Replaced;
  }

  void collect() {
    auto IsPrecompiled = [this](const CallBase &Call) {
      const Function *Callee = declaredCallee(Call);
      return Callee && (Unsafe.find(*Callee) || systemFunction(Call));
    };
    for (const Access &A : enumerateAccesses(F, IsPrecompiled)) {
      if (!A.Writes)
        continue;
      if (A.Kind == AccessKind::Precompiled)
        Calls.push_back(A);
      else if (needsNote(A))
        Writes.push_back(A);
    }
  }

  /// Sorts out the writes that are volatile, and those that no note can cover.
  bool needsNote(const Access &A) {
    if (A.At->hasMetadata(VolatileFieldMark) ||
        (changesVolatileBitsOnly(*A.At) && !settings().Redirect))
      return count(Outcome::VolatileField, A), false;
    if (A.Kind != AccessKind::Scatter && A.Address) {
      Origin From =
          originOf(A.Address, *A.At->getFunction(), Analyses.Library, settings().GlobalsMayPersist);
      if (From != Origin::MayPersist)
        return count(outcomeOf(From), A), false;
    }
    if (!A.Size && !A.Length) {
      if (A.Kind != AccessKind::Store) // a store of no bytes is nothing
        warnAbout(A);
      return false;
    }
    if (A.Kind == AccessKind::Exchange && !settings().LockedAtomics)
      return warnAbout(A), false;
    return true;
  }

  void warnAbout(const Access &A) {
    count(Outcome::Warned, A);
    if (A.Size && A.Address)
      Unnoted.push_back(A);
    switch (A.Kind) {
    case AccessKind::Exchange:
      return R.warn(*A.At, "atomic read-modify-write may hit persistent memory and is not logged; "
                           "--nvmove-atomics=locked logs it, if a lock protects it");
    case AccessKind::Assembly:
      return R.warn(*A.At, "inline assembler may write persistent memory that nothing logs");
    default:
      return R.warn(*A.At, "this operation may write persistent memory that nothing logs");
    }
  }

  /// The note of a write of one range; none: of lanes here and there.
  std::optional<Note> noteFor(const Access &A) {
    if (A.Kind == AccessKind::Masked || A.Kind == AccessKind::Scatter)
      return std::nullopt;
    if (A.Kind != AccessKind::Compress)
      return Note{A.At, A.Address, A.Size, A.Length};
    IRBuilder<> At(A.At);
    auto *Bits = At.getIntNTy(cast<FixedVectorType>(A.Mask->getType())->getNumElements());
    Value *On = At.CreateUnaryIntrinsic(Intrinsic::ctpop, At.CreateBitCast(A.Mask, Bits));
    Value *Length =
        At.CreateMul(At.CreateZExtOrTrunc(On, At.getInt64Ty()), At.getInt64(laneSize(A)));
    return Note{A.At, A.Address, 0, Length};
  }

  void setHeat(MutableArrayRef<Note> Notes) const {
    Heats Known(Analyses.Loops.Loops, Analyses.Frequency);
    for (const Note &N : Notes)
      Known.add(*N.Before);
    for (Note &N : Notes)
      N.Where = Known.of(*N.Before);
  }

  void emitLanes(const Access &A) {
    if (A.Kind == AccessKind::Masked || A.Kind == AccessKind::Scatter)
      emitLaneNotes(A.At, A.Address, A.Mask, laneSize(A));
  }

  static uint64_t laneSize(const Access &A) {
    return A.Size / cast<FixedVectorType>(A.Mask->getType())->getNumElements();
  }

  void noteCall(const Access &A) {
    auto &Call = cast<CallBase>(*A.At);
    const UnsafeFunction *Known = Unsafe.find(*declaredCallee(Call));
    if (!Known) {
      if (warnOfUnknown(Call, Unsafe, Analyses.Library, R))
        count(Outcome::Warned, A);
      return;
    }
    auto MayPersist = [&](const Value *V) {
      return originOf(V, *Call.getFunction(), Analyses.Library, settings().GlobalsMayPersist) ==
             Origin::MayPersist;
    };
    UnsafeCall Described{&Call, SmallVector<Value *>(Call.args())};
    bool Noted = noteBefore(Described, *Known, MayPersist, R);
    NotedCall |= Noted;
    count(Noted ? Outcome::Noted : Outcome::NothingWritten, A);
  }

  void count(Outcome What, const Access &A) { R.count(What, *A.At, Analyses.Remarks); }

  Function &F;
  const UnsafeTable &Unsafe;
  const Commits &MayCommit;
  const FunctionAnalyses &Analyses;
  LoadsMade &Loads;
  Report &R;
  SmallVector<Access> Writes, Calls, Unnoted;
  bool NotedCall = false;
};

} // namespace

bool instrumentFunction(Function &F, const UnsafeTable &Unsafe, const Commits &MayCommit,
                        const FunctionAnalyses &Analyses, LoadsMade &Loads, Report &R) {
  return FunctionInstrumenter(F, Unsafe, MayCommit, Analyses, Loads, R).run();
}

} // namespace nvmove::plugin
