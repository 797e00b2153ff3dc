// The inline check before a write: see Notes.h.
#include "Notes.h"

#include "Abi.h"

#include "nvmove/abi.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// The sanitizers run after this and need not look at our own loads.
LoadInst *unobserved(LoadInst *Load) {
  Load->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(Load->getContext(), {}));
  return Load;
}

/// "Some byte of the write is not in this thread's line table." A write that crosses a line is not
/// looked up. Alignment proves nothing here: programs do store where their types are not aligned.
Value *notYetNoted(IRBuilderBase &At, Value *Integer, uint64_t Size) {
  constexpr unsigned LineShift = 6;
  static_assert(NVM_LINE_SIZE == 1 << LineShift);
  Value *Line = At.CreateLShr(Integer, LineShift);
  Value *Index = At.CreateAnd(Line, NVM_LINE_SLOTS - 1);
  Value *Slot = At.CreateInBoundsGEP(ArrayType::get(At.getInt64Ty(), 2), lineTable(At),
                                     {Index, At.getInt64(0)});
  Value *Held = unobserved(At.CreateAlignedLoad(At.getInt64Ty(), Slot, Align(8)));
  Value *MissingAt = At.CreateConstInBoundsGEP1_64(At.getInt64Ty(), Slot, 1);
  Value *Missing = unobserved(At.CreateAlignedLoad(At.getInt64Ty(), MissingAt, Align(8)));
  Value *Shift = At.CreateAnd(Integer, NVM_LINE_SIZE - 1);
  uint64_t Bytes = Size == NVM_LINE_SIZE ? ~UINT64_C(0) : (UINT64_C(1) << Size) - 1;
  Value *Open = At.CreateAnd(At.CreateLShr(Missing, Shift), Bytes);
  Value *Missed = At.CreateOr(At.CreateICmpNE(Held, Line), At.CreateIsNotNull(Open));
  if (Size == 1)
    return Missed;
  return At.CreateOr(Missed, At.CreateICmpUGT(Shift, At.getInt64(NVM_LINE_SIZE - Size)));
}

/// The filter and the call behind it, for writes of one size; \p Ahead: of a group, for any
/// address.
Function *sharedNote(Module &M, uint64_t Size, bool Ahead) {
  std::string Name = (Ahead ? "__nvmove_note_ahead_" : "__nvmove_note_") + utostr(Size);
  if (Function *Made = M.getFunction(Name))
    return Made;
  LLVMContext &C = M.getContext();
  auto *Type = FunctionType::get(Type::getVoidTy(C), {PointerType::getUnqual(C)}, false);
  Function *F = Function::createWithDefaultAttr(Type, GlobalValue::LinkOnceODRLinkage, 0, Name, &M);
  F->setVisibility(GlobalValue::HiddenVisibility);
  F->setComdat(M.getOrInsertComdat(Name));
  F->setCallingConv(CallingConv::PreserveMost);
  F->setDoesNotThrow();
  F->addFnAttr(Attribute::NoInline);
  IRBuilder<> At(BasicBlock::Create(C, "", F));
  Instruction *Return = At.CreateRetVoid();
  At.SetInsertPoint(Return);
  if (Ahead)
    At.SetInsertPoint(SplitBlockAndInsertIfThen(inRange(At, F->getArg(0)), Return, false));
  Value *Open = notYetNoted(At, At.CreatePtrToInt(F->getArg(0), At.getInt64Ty()), Size);
  At.SetInsertPoint(unlikelyBlock(Open, &*At.GetInsertPoint()));
  callAbi(At, Ahead ? "__nvm_note_ahead" : "__nvm_note", {F->getArg(0), At.getInt64(Size)});
  return F;
}

void callShared(IRBuilderBase &At, Value *Address, uint64_t Size, bool Ahead) {
  Function *Shared = sharedNote(*At.GetInsertBlock()->getModule(), Size, Ahead);
  CallInst *Call = At.CreateCall(Shared, {Address});
  Call->setCallingConv(CallingConv::PreserveMost);
  Call->setDoesNotThrow();
}

} // namespace

Value *inRange(IRBuilderBase &At, Value *Address) {
  Value *Integer = At.CreatePtrToInt(Address, At.getInt64Ty());
  return At.CreateICmpEQ(At.CreateLShr(Integer, NVM_RANGE_SHIFT), At.getInt64(NVM_RANGE_TAG));
}

Instruction *unlikelyBlock(Value *Unlikely, Instruction *At) {
  MDNode *Weights = MDBuilder(At->getContext()).createUnlikelyBranchWeights();
  return SplitBlockAndInsertIfThen(Unlikely, At, /*Unreachable=*/false, Weights);
}

namespace {

/// More tests than this cost as much as the notes.
constexpr unsigned FreshTestsMax = 4;

/// Addresses [First, End), End being that of a byte: what some notes cover together.
struct Stretch {
  Value *First = nullptr, *End = nullptr;
};

/// Notes at constant distances from one base are one stretch.
SmallVector<Stretch> stretchesOf(IRBuilderBase &At, ArrayRef<Note> Notes) {
  const DataLayout &DL = At.GetInsertBlock()->getDataLayout();
  MapVector<Value *, std::pair<int64_t, int64_t>> Fixed;
  SmallVector<Stretch> Result;
  auto After = [&](Value *Base, Value *Bytes) { return At.CreatePtrAdd(Base, Bytes); };
  for (const Note &N : Notes) {
    if (!N.Size) {
      Value *Length = At.CreateZExtOrTrunc(N.Length, At.getInt64Ty());
      Result.push_back({N.Address, After(N.Address, Length)});
      continue;
    }
    APInt Offset(DL.getIndexTypeSizeInBits(N.Address->getType()), 0);
    Value *Base = N.Address->stripAndAccumulateConstantOffsets(DL, Offset, true);
    int64_t First = Offset.getSExtValue(), End = First + static_cast<int64_t>(N.Size);
    auto [Found, New] = Fixed.try_emplace(Base, First, End);
    if (!New)
      Found->second = {std::min(Found->second.first, First), std::max(Found->second.second, End)};
  }
  for (auto &[Base, Bytes] : Fixed)
    Result.push_back({After(Base, At.getInt64(static_cast<uint64_t>(Bytes.first))),
                      After(Base, At.getInt64(static_cast<uint64_t>(Bytes.second)))});
  return Result;
}

bool comesFromCall(const Value *Address) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Address, Objects);
  return any_of(Objects, [](const Value *Object) { return isa<CallBase>(Object); });
}

/// "All of them go to the block that this thread allocated last", where that is likely enough to
/// ask: fields of what a call returned are being filled in. Leaves \p At where they do not.
void skipIfFresh(IRBuilderBase &At, ArrayRef<Note> Notes) {
  if (none_of(Notes, [](const Note &N) { return comesFromCall(N.Address); }))
    return;
  Instruction *Behind = &*At.GetInsertPoint();
  SmallVector<Stretch> Stretches = stretchesOf(At, Notes);
  if (Stretches.size() > FreshTestsMax)
    return;
  auto Load = [&](size_t Offset) {
    Value *Place = At.CreateConstInBoundsGEP1_64(At.getInt8Ty(), lineTable(At), Offset);
    return unobserved(At.CreateAlignedLoad(At.getInt64Ty(), Place, Align(8)));
  };
  Value *Start = Load(offsetof(struct nvm_line_table, fresh_start));
  Value *End = Load(offsetof(struct nvm_line_table, fresh_end));
  Value *Outside = At.getFalse();
  for (const Stretch &S : Stretches) {
    Value *First = At.CreatePtrToInt(S.First, At.getInt64Ty());
    Value *Last = At.CreatePtrToInt(S.End, At.getInt64Ty());
    Outside = At.CreateOr(Outside,
                          At.CreateOr(At.CreateICmpULT(First, Start), At.CreateICmpUGT(Last, End)));
  }
  At.SetInsertPoint(SplitBlockAndInsertIfThen(Outside, Behind, /*Unreachable=*/false));
}

/// One of a group: announced, not waited for. Leaves \p At behind it.
void emitAhead(IRBuilderBase &At, const Note &N) {
  if (N.Size && N.Size <= NVM_LINE_SIZE && !N.Hot)
    return callShared(At, N.Address, N.Size, /*Ahead=*/true);
  Instruction *Behind = &*At.GetInsertPoint();
  Value *Size = N.Size ? At.getInt64(N.Size) : At.CreateZExtOrTrunc(N.Length, At.getInt64Ty());
  if (N.Size && N.Size <= NVM_LINE_SIZE) {
    At.SetInsertPoint(SplitBlockAndInsertIfThen(inRange(At, N.Address), Behind, false));
    Value *Integer = At.CreatePtrToInt(N.Address, At.getInt64Ty());
    At.SetInsertPoint(unlikelyBlock(notYetNoted(At, Integer, N.Size), &*At.GetInsertPoint()));
  }
  callAbi(At, "__nvm_note_ahead", {N.Address, Size});
  At.SetInsertPoint(Behind);
}

/// "One of them lies in the range." Fields of one object, told by an address that is surely inside
/// it, lie there together.
Value *someInRange(IRBuilderBase &At, ArrayRef<Note> Group) {
  SmallPtrSet<Value *, 8> Seen;
  Value *Some = nullptr;
  for (const Note &N : Group) {
    if (!Seen.insert(N.Address->stripInBoundsConstantOffsets()).second)
      continue;
    Value *Here = inRange(At, N.Address);
    Some = Some ? At.CreateOr(Some, Here) : Here;
  }
  return Some;
}

} // namespace

void emitGroup(ArrayRef<Note> Group) {
  if (Group.size() == 1)
    return emitNote(Group.front());
  Instruction *Before = Group.front().Before;
  IRBuilder<> At(Before);
  At.SetInsertPoint(unlikelyBlock(someInRange(At, Group), Before));
  skipIfFresh(At, Group);
  for (const Note &N : Group)
    emitAhead(At, N);
  Value *Ahead = At.CreateConstInBoundsGEP1_64(At.getInt8Ty(), lineTable(At),
                                               offsetof(struct nvm_line_table, ahead));
  Value *Waiting = unobserved(At.CreateAlignedLoad(At.getInt64Ty(), Ahead, Align(8)));
  At.SetInsertPoint(
      SplitBlockAndInsertIfThen(At.CreateIsNotNull(Waiting), &*At.GetInsertPoint(), false));
  callAbi(At, "__nvm_settle", {});
}

void emitNote(const Note &N) {
  IRBuilder<> At(N.Before);
  At.SetInsertPoint(unlikelyBlock(inRange(At, N.Address), N.Before));
  skipIfFresh(At, N);
  Instruction *Inside = &*At.GetInsertPoint();
  if (!N.Size) {
    callAbi(At, "__nvm_note_if_persistent",
            {N.Address, At.CreateZExtOrTrunc(N.Length, At.getInt64Ty())});
    return;
  }
  if (N.Size <= NVM_LINE_SIZE) {
    if (!N.Hot)
      return callShared(At, N.Address, N.Size, /*Ahead=*/false);
    Value *Integer = At.CreatePtrToInt(N.Address, At.getInt64Ty());
    At.SetInsertPoint(unlikelyBlock(notYetNoted(At, Integer, N.Size), Inside));
  }
  callAbi(At, "__nvm_note", {N.Address, At.getInt64(N.Size)});
}

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
