// The inline check before a write: see Notes.h.
#include "ir/Notes.h"

#include "emit/Abi.h"
#include "ir/SharedNotes.h"

#include "nvmove/abi.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace nvmove::plugin {

Value *inRange(IRBuilderBase &At, Value *Address) {
  Value *Integer = At.CreatePtrToInt(Address, At.getInt64Ty());
  return At.CreateICmpEQ(At.CreateLShr(Integer, NVM_RANGE_SHIFT), At.getInt64(NVM_RANGE_TAG));
}

Instruction *unlikelyBlock(Value *Unlikely, Instruction *At) {
  MDNode *Weights = MDBuilder(At->getContext()).createUnlikelyBranchWeights();
  return SplitBlockAndInsertIfThen(Unlikely, At, /*Unreachable=*/false, Weights);
}

Instruction *behindIfInRange(Instruction &Access, Value *Address) {
  Instruction *Next = Access.getNextNode();
  IRBuilder<> At(Next);
  At.SetCurrentDebugLocation(Access.getDebugLoc());
  Instruction *Place = unlikelyBlock(inRange(At, Address), Next);
  Place->setDebugLoc(Access.getDebugLoc());
  return Place;
}

namespace {

/// The sanitizers run after this and need not look at our own loads.
LoadInst *unobserved(LoadInst *Load) {
  Load->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(Load->getContext(), {}));
  return Load;
}

/// "Some byte of the write is not in this thread's line table." What is shifted in from above is
/// missing, so that a write which crosses a line is not found. Alignment proves nothing here:
/// programs do store where their types are not aligned.
Value *notYetNoted(IRBuilderBase &At, Value *Integer, uint64_t Size) {
  constexpr unsigned LineShift = 6, SlotShift = 2;
  static_assert(NVM_LINE_SIZE == 1 << LineShift);
  static_assert(sizeof(nvm_line) == 1 << (LineShift - SlotShift));
  Value *Slot =
      At.CreatePtrAdd(lineTable(At), At.CreateAnd(At.CreateLShr(Integer, SlotShift),
                                                  (NVM_LINE_SLOTS - 1) * sizeof(nvm_line)));
  Value *MissingAt = At.CreateConstInBoundsGEP1_64(At.getInt64Ty(), Slot, 1);
  auto Read = [&](Value *From) { // in this order: signal handlers change the slot, too (abi.h)
    return unobserved(At.CreateAlignedLoad(At.getInt64Ty(), From, Align(8), /*isVolatile=*/true));
  };
  Value *Held = Read(Slot), *Missing = Read(MissingAt), *StillHeld = Read(Slot);
  Value *Shift = At.CreateAnd(Integer, NVM_LINE_SIZE - 1);
  Value *Noted = At.CreateLShr(At.CreateNot(Missing), Shift);
  uint64_t Bytes = UINT64_MAX >> (NVM_LINE_SIZE - Size);
  Value *Open = At.CreateICmpNE(At.CreateAnd(Noted, Bytes), At.getInt64(Bytes));
  Value *Line = At.CreateLShr(Integer, LineShift);
  Value *Other = At.CreateOr(At.CreateXor(Held, Line), At.CreateXor(StillHeld, Line));
  return At.CreateOr(At.CreateICmpNE(Other, At.getInt64(0)), Open);
}

/// An address as a constant distance from what it was made of.
struct Place {
  Value *Base = nullptr;
  int64_t Offset = 0;
};

Place partsOf(Value *Address, const DataLayout &DL, bool AllowNonInbounds) {
  APInt Offset(DL.getIndexTypeSizeInBits(Address->getType()), 0);
  Value *Base = Address->stripAndAccumulateConstantOffsets(DL, Offset, AllowNonInbounds);
  return {Base, Offset.getSExtValue()};
}

/// Bytes that are noted by one call: those of one note, or of several that touch.
struct Stretch {
  Place First;
  uint64_t Size = 0;             ///< bytes, or 0: as Length says
  Value *Length = nullptr;       ///< bytes
  SmallVector<Value *, 2> Tests; ///< lies in the range exactly if one of these does
};

/// Longer ones cross lines too often, which the filter does not look up.
constexpr uint64_t JoinedMax = 32;

/// Makes \p To longer by \p Other, where no byte lies between them.
bool joinStretch(Stretch &To, const Stretch &Other) {
  if (To.First.Base != Other.First.Base || !To.Size || !Other.Size)
    return false;
  int64_t Start = std::min(To.First.Offset, Other.First.Offset);
  int64_t ToEnd = To.First.Offset + static_cast<int64_t>(To.Size);
  int64_t OtherEnd = Other.First.Offset + static_cast<int64_t>(Other.Size);
  if (To.First.Offset > OtherEnd || Other.First.Offset > ToEnd)
    return false;
  uint64_t Size = static_cast<uint64_t>(std::max(ToEnd, OtherEnd) - Start);
  if (Size > std::max({JoinedMax, To.Size, Other.Size}))
    return false;
  To.First.Offset = Start;
  To.Size = Size;
  append_range(To.Tests, Other.Tests);
  return true;
}

/// What the notes of \p Group cover.
SmallVector<Stretch> stretchesOf(ArrayRef<Note> Group) {
  const DataLayout &DL = Group.front().Before->getDataLayout();
  SmallVector<Stretch> Result;
  for (const Note &N : Group) {
    // Fields of one object, told by an address that is surely inside it, lie in the range together.
    Stretch Made{partsOf(N.Address, DL, true),
                 N.Size,
                 N.Length,
                 {N.Address->stripInBoundsConstantOffsets()}};
    if (none_of(Result, [&](Stretch &Before) { return joinStretch(Before, Made); }))
      Result.push_back(Made);
  }
  return Result;
}

/// "One of them lies in the range."
Value *someInRange(IRBuilderBase &At, ArrayRef<Stretch> Stretches) {
  SmallPtrSet<Value *, 8> Seen;
  Value *Some = nullptr;
  for (const Stretch &S : Stretches)
    for (Value *Test : S.Tests) {
      if (!Seen.insert(Test).second)
        continue;
      Value *Here = inRange(At, Test);
      Some = Some ? At.CreateOr(Some, Here) : Here;
    }
  return Some;
}

/// The first address, computed where it is needed, so that no register keeps it for that.
Value *firstOf(IRBuilderBase &At, const Stretch &S) {
  if (!S.First.Offset)
    return S.First.Base;
  return At.CreatePtrAdd(S.First.Base, ConstantInt::getSigned(At.getInt64Ty(), S.First.Offset));
}

void noteStretch(IRBuilderBase &At, const Stretch &S, bool Ahead) {
  callSharedNote(At, firstOf(At, S), S.Size ? At.getInt64(S.Size) : S.Length, Ahead);
}

/// As the one above, with the filter inline. Leaves \p At behind it.
void noteHotStretch(IRBuilderBase &At, const Stretch &S, bool Ahead) {
  if (!S.Size || S.Size > NVM_LINE_SIZE)
    return noteStretch(At, S, Ahead);
  Instruction *Behind = &*At.GetInsertPoint();
  Value *Integer = At.CreatePtrToInt(firstOf(At, S), At.getInt64Ty());
  At.SetInsertPoint(unlikelyBlock(notYetNoted(At, Integer, S.Size), Behind));
  noteStretch(At, S, Ahead);
  At.SetInsertPoint(Behind);
}

/// Too likely to be moved away, which would take two long jumps; unlikely enough to bear what the
/// call costs in registers.
MDNode *besideWeights(IRBuilderBase &At) {
  return MDBuilder(At.getContext()).createBranchWeights(1, 3);
}

} // namespace

void emitGroup(ArrayRef<Note> Group) {
  Instruction *Before = Group.front().Before;
  Heat Where = Group.front().Where;
  IRBuilder<> At(Before);
  SmallVector<Stretch> Stretches = stretchesOf(Group);
  bool Ahead = Stretches.size() > 1;
  // Several calls for nothing cost more than one test.
  if (Where == Heat::Rare && Ahead && !Before->getFunction()->hasOptSize())
    Where = Heat::Once;
  if (Where == Heat::Once)
    At.SetInsertPoint(SplitBlockAndInsertIfThen(someInRange(At, Stretches), Before,
                                                /*Unreachable=*/false, besideWeights(At)));
  else if (Where != Heat::Rare)
    At.SetInsertPoint(unlikelyBlock(someInRange(At, Stretches), Before));
  for (const Stretch &S : Stretches)
    if (Where == Heat::Hot)
      noteHotStretch(At, S, Ahead);
    else
      noteStretch(At, S, Ahead);
  if (Ahead)
    callSharedDrain(At);
}

void emitNote(const Note &N) { emitGroup(N); }

void emitLaneNotes(Instruction *Before, Value *Addresses, Value *Mask, uint64_t LaneSize) {
  IRBuilder<> At(Before);
  unsigned Lanes = cast<FixedVectorType>(Mask->getType())->getNumElements();
  bool Scattered = Addresses->getType()->isVectorTy();
  if (!Scattered)
    At.SetInsertPoint(unlikelyBlock(inRange(At, Addresses), Before));
  for (unsigned Lane = 0; Lane < Lanes; ++Lane) {
    Value *Address = Scattered ? At.CreateExtractElement(Addresses, Lane)
                               : At.CreateConstGEP1_64(At.getInt8Ty(), Addresses, Lane * LaneSize);
    Value *On = At.CreateExtractElement(Mask, Lane);
    Value *Size = At.CreateSelect(On, At.getInt64(LaneSize), At.getInt64(0));
    callAbi(At, "__nvm_note_if_persistent", {Address, Size});
  }
}

} // namespace nvmove::plugin
