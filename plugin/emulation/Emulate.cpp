// Accesses that wait: see Emulate.h.
#include "emulation/Emulate.h"

#include "base/Frontend.h"
#include "base/Settings.h"
#include "emit/Abi.h"
#include "emulation/Marks.h"
#include "trace/Trace.h"
#include "unsafe/UnsafeCalls.h"

#include "nvmove/abi.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// Metadata: what one phase leaves to the other.
constexpr const char *KeptName = "nvmove.emulation";

/// What optimisation has left, in place of what the source has.
bool chargesLeft() { return settings().Loads == Settings::Accesses::Optimized; }

enum SiteKind { Loads, Stores, Copies, Outputs, SiteKinds };
using Counts = std::array<unsigned, SiteKinds>;

SiteKind kindOf(const Access &A) {
  return A.Kind == AccessKind::Copy ? Copies : A.Writes ? Stores : Loads;
}

/// Where what \p I did is charged; null: nothing can stand there.
Instruction *behind(Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return I.isTerminator() || (Call && Call->isMustTailCall()) ? nullptr : I.getNextNode();
}

/// One text for all places with the same types, so that they are told apart by its address.
Constant *textOf(Module &M, StringRef Types) {
  std::string Name = ("nvmove.through." + Types).str();
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  auto *Text = ConstantDataArray::getString(M.getContext(), Types);
  auto *Made = new GlobalVariable(M, Text->getType(), /*isConstant=*/true,
                                  GlobalValue::PrivateLinkage, Text, Name);
  Made->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return Made;
}

/// What a plain store of 8 bytes at most replaces, read in front of it; null: it is another access. Optimisation
/// takes what is in a new block for undefined, and would give any value, but for a volatile load.
Value *replaced(const Access &A) {
  auto *Store = dyn_cast<StoreInst>(A.At);
  if (!Store || !Store->isSimple() || !isPowerOf2_64(A.Size) || A.Size > sizeof(uint64_t))
    return nullptr;
  Type *Its = Store->getValueOperand()->getType();
  if (!Its->isSingleValueType() ||
      (!Its->isPointerTy() && !Its->isIntegerTy() && Its->getPrimitiveSizeInBits() != A.Size * 8))
    return nullptr;
  IRBuilder<> At(Store);
  Value *Before = At.CreateAlignedLoad(At.getIntNTy(unsigned(A.Size) * 8), A.Address, Align(1),
                                       /*isVolatile=*/true);
  return At.CreateZExt(Before, At.getInt64Ty());
}

/// What such a store puts there.
Value *stored(IRBuilder<> &At, const Access &A) {
  Value *Now = cast<StoreInst>(A.At)->getValueOperand();
  Type *Same = At.getIntNTy(unsigned(A.Size) * 8);
  if (Now->getType()->isPointerTy())
    Now = At.CreatePtrToInt(Now, Same);
  else if (Now->getType()->isIntegerTy())
    Now = At.CreateZExtOrTrunc(Now, Same); // i1 is stored as a byte
  else
    Now = At.CreateBitCast(Now, Same);
  return At.CreateZExt(Now, At.getInt64Ty());
}

bool charge(const Access &A, const Emulated &E, Counts &Made) {
  Instruction *Next = behind(*A.At);
  if (!Next || (!A.Size && !A.Length))
    return false;
  Value *Before = A.Writes && E.Lasts ? replaced(A) : nullptr;
  IRBuilder<> At(Next);
  At.SetCurrentDebugLocation(A.At->getDebugLoc());
  Constant *Through = textOf(*A.At->getModule(), E.Types);
  Value *Size = A.Size ? At.getInt64(A.Size) : At.CreateZExtOrTrunc(A.Length, At.getInt64Ty());
  if (!A.Writes || A.Kind == AccessKind::Exchange)
    callAbi(At, "__nvm_charge_load", {A.Address, Size, Through});
  if (Before)
    callAbi(At, "__nvm_charge_stored", {A.Address, Size, Through, Before, stored(At, A)});
  else if (A.Writes)
    callAbi(At, E.Lasts ? "__nvm_charge_store" : "__nvm_charge_volatile",
            {A.Address, Size, Through});
  ++Made[kindOf(A)];
  return true;
}

/// A mask that leaves some lanes out is not looked at.
SmallVector<Access> accessesOf(Function &F) {
  SmallVector<Access> Found = enumerateAccesses(F, [](const CallBase &) { return false; });
  erase_if(Found, [](const Access &A) {
    return !A.Address || A.Kind == AccessKind::Assembly || A.Kind == AccessKind::Unknown ||
           A.Address->getType()->isVectorTy();
  });
  return Found;
}

/// Pre-compiled functions: what they read and write through an argument is charged in front of the call.
void chargeCalls(Function &F, const UnsafeTable &Unsafe, const RecordNames &Wanted, Counts &Made) {
  SmallVector<std::pair<CallBase *, const UnsafeFunction *>> Known;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (const UnsafeFunction *Found = Unsafe.named(libraryCallee(*Call)))
        Known.push_back({Call, Found});
  for (auto [Call, Found] : Known) {
    UnsafeCall Its{Call, SmallVector<Value *>(Call->args()), false};
    auto ChargeBy = [&, Call = Call, Found = Found](bool Writes) {
      auto TypesOf = [&, Call, Writes](Value *Argument) {
        Access Of;
        Of.At = Call;
        Of.Address = Argument;
        Of.Writes = Writes;
        return recordsOf(Of, Wanted);
      };
      auto Place = [&](Value *Argument) -> Instruction * {
        return TypesOf(Argument).empty() ? nullptr : Call;
      };
      auto Charge = [&](IRBuilderBase &At, Value *Argument, Value *Address, Value *Size) {
        callAbi(At, Writes ? "__nvm_charge_store" : "__nvm_charge_load",
                {Address, Size, textOf(*F.getParent(), TypesOf(Argument))});
        ++Made[Copies];
      };
      bytesBefore(Its, *Found, Writes ? Found->Writes : Found->Reads, Place, Charge);
    };
    ChargeBy(false);
    ChargeBy(true);
  }
}

constexpr StringLiteral Waits[] = {
#define NVM_WAIT(name) #name,
#include "emulation/Waits.def"
#undef NVM_WAIT
};

bool isWait(const CallBase &Call) { return is_contained(Waits, libraryCallee(Call)); }

void chargeOutputs(Function &F, Counts &Made) {
  SmallVector<CallBase *> Outputs, Waiting;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I)) {
      if (isOutput(*Call) && !printsErrors(*Call))
        Outputs.push_back(Call);
      if (isWait(*Call)) // after its output: system is both
        Waiting.push_back(Call);
    }
  for (CallBase *Call : Outputs) {
    IRBuilder<> At(Call);
    Value *Descriptor = outputDescriptor(*Call);
    callAbi(At, "__nvm_charge_output", {Descriptor ? Descriptor : At.getInt32(INT_MIN)});
    ++Made[SiteKind::Outputs];
  }
  for (CallBase *Call : Waiting) {
    IRBuilder<> At(Call);
    callAbi(At, "__nvm_charge_wait", {});
  }
}

/// Each call of \p F stays, though the source may call it, or who calls it, `pure` or `const`: it charges.
void hasEffects(Function &F) {
  F.setMemoryEffects(MemoryEffects::unknown());
  for (User *U : F.users())
    if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledFunction() == &F) {
      Call->setMemoryEffects(MemoryEffects::unknown());
      if (Call->getFunction()->getMemoryEffects() != MemoryEffects::unknown())
        hasEffects(*Call->getFunction());
    }
}

SmallVector<Function *> bodiesOf(Module &M) {
  SmallVector<Function *> Bodies;
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasFnAttribute(Attribute::Naked))
      Bodies.push_back(&F);
  return Bodies;
}

/// What the early phase leaves to the late one.
struct Kept {
  Counts Made{};
  std::string Types; ///< wantedTypes
};

void keep(Module &M, const Kept &K) {
  Type *Word = Type::getInt32Ty(M.getContext());
  SmallVector<Metadata *> Each{MDString::get(M.getContext(), K.Types)};
  for (unsigned Count : K.Made)
    Each.push_back(ConstantAsMetadata::get(ConstantInt::get(Word, Count)));
  M.getOrInsertNamedMetadata(KeptName)->addOperand(MDNode::get(M.getContext(), Each));
}

/// Nothing where the early phase has failed.
std::optional<Kept> takeKept(Module &M) {
  NamedMDNode *Node = M.getNamedMetadata(KeptName);
  if (!Node)
    return std::nullopt;
  const MDNode &All = *Node->getOperand(0);
  Kept K{{}, cast<MDString>(All.getOperand(0))->getString().str()};
  for (unsigned Kind = 0; Kind < SiteKinds; ++Kind)
    K.Made[Kind] = static_cast<unsigned>(
        mdconst::extract<ConstantInt>(All.getOperand(Kind + 1))->getZExtValue());
  Node->eraseFromParent();
  return K;
}

/// The types that are wanted, each ended by a zero, with a '+' before those that this source knows; and
/// an empty one behind them.
std::string wantedTypes(Module &M, const RecordNames &Wanted) {
  StringSet<> Known;
  for (const StructType *Record : M.getIdentifiedStructTypes())
    if (Record->hasName())
      Known.insert(Wanted.named(Record->getName()));
  for (const TypeLayout &T : frontendFacts().Types) // also those that no address shows
    Known.insert(Wanted.named(T.Name));
  std::string Text;
  for (const std::string &Name : Wanted.all()) {
    Text += Known.contains(Name) ? '+' : '-';
    Text += Name;
    Text += '\0';
  }
  return Text;
}

/// Tells the runtime of the profile, of the types, and of how many places there are in this source.
void enable(Module &M, const Kept &K) {
  LLVMContext &C = M.getContext();
  auto *F = Function::Create(FunctionType::get(Type::getVoidTy(C), false),
                             GlobalValue::InternalLinkage, "__nvmove_emulate", M);
  IRBuilder<> At(BasicBlock::Create(C, "", F));
  GlobalVariable *Types = At.CreateGlobalString(K.Types, "nvmove.types");
  Types->setSection(NVM_EMULATED_SECTION);
  SmallVector<Value *> Arguments{At.CreateGlobalString(settings().EmulateProfile, "nvmove.profile"),
                                 Types};
  for (unsigned Count : K.Made)
    Arguments.push_back(At.getInt32(Count));
  callAbi(At, "__nvm_emulate", Arguments);
  At.CreateRetVoid();
  appendToGlobalCtors(M, F, /*Priority=*/101);
}

} // namespace

void findEmulated(Module &M, const UnsafeTable &Unsafe) {
  if (settings().EmulateTypes.empty()) {
    M.getContext().emitError("nvmove: --nvmove-emulate needs the persistent types: "
                             "--nvmove-emulate-types=FILE, as nvmove scan --format=json prints it");
    return;
  }
  std::optional<RecordNames> Read = readTypes(M);
  if (!Read)
    return;
  const RecordNames &Wanted = *Read;
  Kept K{{}, wantedTypes(M, Wanted)};
  Marker Marks(M);
  for (Function *F : bodiesOf(M)) {
    Counts Before = K.Made;
    for (const Access &A : accessesOf(*F)) {
      Emulated E = emulatedOf(A, Wanted);
      if (E.Types.empty())
        continue;
      if (chargesLeft())
        Marks.mark(A, E);
      else
        charge(A, E, K.Made);
    }
    chargeCalls(*F, Unsafe, Wanted, K.Made);
    if (!chargesLeft())
      chargeOutputs(*F, K.Made);
    if (K.Made != Before)
      hasEffects(*F);
  }
  keep(M, K);
}

void finishEmulated(Module &M) {
  std::optional<Kept> K = takeKept(M);
  if (!K)
    return;
  Counts &Made = K->Made;
  if (chargesLeft())
    for (Function *F : bodiesOf(M)) {
      for (const Access &A : accessesOf(*F))
        if (Emulated E = markOf(A); !E.Types.empty())
          charge(A, E, Made);
      chargeOutputs(*F, Made);
    }
  enable(M, *K);
  if (settings().Remarks)
    errs() << "nvmove: " << M.getSourceFileName() << ": charged at " << Made[Loads] << " loads, "
           << Made[Stores] << " stores, " << Made[Copies] << " copies; commits before "
           << Made[Outputs] << " outputs\n";
}

} // namespace nvmove::plugin
