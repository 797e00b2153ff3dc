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

bool charge(const Access &A, const Emulated &E, Counts &Made) {
  bool Loads = !A.Writes || A.Kind == AccessKind::Exchange;
  Instruction *Next = behind(*A.At);
  if ((Loads && !Next) || (!A.Size && !A.Length))
    return false;
  Constant *Through = textOf(*A.At->getModule(), E.Types);
  auto Call = [&](Instruction *Place, const char *Name) {
    IRBuilder<> At(Place);
    At.SetCurrentDebugLocation(A.At->getDebugLoc());
    Value *Size = A.Size ? At.getInt64(A.Size) : At.CreateZExtOrTrunc(A.Length, At.getInt64Ty());
    callAbi(At, Name, {A.Address, Size, Through});
  };
  if (Loads)
    Call(Next, "__nvm_charge_load");
  if (A.Writes)
    Call(A.At, E.Lasts ? "__nvm_charge_store" : "__nvm_charge_volatile");
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
      if (const Function *Callee = namedCallee(*Call))
        if (const UnsafeFunction *Found = Unsafe.find(*Callee))
          Known.push_back({Call, Found});
  for (auto [Call, Found] : Known) {
    UnsafeCall Its{Call, SmallVector<Value *>(Call->args()), false};
    auto TypesOf = [&, Call = Call](Value *Argument) {
      Access Of;
      Of.At = Call;
      Of.Address = Argument;
      return recordsOf(Of, Wanted);
    };
    auto Place = [&, Call = Call](Value *Argument) -> Instruction * {
      return TypesOf(Argument).empty() ? nullptr : Call;
    };
    auto ChargeBy = [&](const char *Name) {
      return [&, Name](IRBuilderBase &At, Value *Argument, Value *Address, Value *Size) {
        callAbi(At, Name, {Address, Size, textOf(*F.getParent(), TypesOf(Argument))});
        ++Made[Copies];
      };
    };
    bytesBefore(Its, *Found, Found->Reads, Place, ChargeBy("__nvm_charge_load"));
    bytesBefore(Its, *Found, Found->Writes, Place, ChargeBy("__nvm_charge_store"));
  }
}

/// Memory that the program gives back by itself.
void announceUnmapped(Function &F) {
  SmallVector<CallBase *> Calls;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (const Function *Callee = namedCallee(*Call))
        if (Callee->isDeclaration() && Call->arg_size() >= 2 &&
            is_contained({StringRef("munmap"), StringRef("mremap")}, Callee->getName()))
          Calls.push_back(Call);
  for (CallBase *Call : Calls) {
    IRBuilder<> At(Call);
    Value *Size = At.CreateZExtOrTrunc(Call->getArgOperand(1), At.getInt64Ty());
    callAbi(At, "__nvm_charge_unmapped",
            {Call->getArgOperand(0), Size, At.getInt32(namedCallee(*Call)->getName() != "munmap")});
  }
}

/// Functions of the C library in which a thread may wait for another thread or process: those who see its
/// outputs are among them.
constexpr StringLiteral Waits[] = {"accept",
                                   "accept4",
                                   "clock_nanosleep",
                                   "epoll_pwait",
                                   "epoll_pwait2",
                                   "epoll_wait",
                                   "fgetc",
                                   "fgets",
                                   "fread",
                                   "fscanf",
                                   "getc",
                                   "getchar",
                                   "getline",
                                   "mq_receive",
                                   "msgrcv",
                                   "nanosleep",
                                   "pause",
                                   "poll",
                                   "ppoll",
                                   "pselect",
                                   "pthread_cond_timedwait",
                                   "pthread_cond_wait",
                                   "pthread_join",
                                   "read",
                                   "readv",
                                   "recv",
                                   "recvfrom",
                                   "recvmmsg",
                                   "recvmsg",
                                   "scanf",
                                   "select",
                                   "sem_timedwait",
                                   "sem_wait",
                                   "semop",
                                   "sigsuspend",
                                   "sigtimedwait",
                                   "sigwait",
                                   "sigwaitinfo",
                                   "sleep",
                                   "usleep",
                                   "wait",
                                   "wait4",
                                   "waitid",
                                   "waitpid"};

bool isWait(const CallBase &Call) {
  const Function *Callee = namedCallee(Call);
  return Callee && Callee->isDeclaration() && is_contained(Waits, Callee->getName());
}

void chargeOutputs(Function &F, Counts &Made) {
  SmallVector<CallBase *> Outputs, Waiting;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I); Call && isOutput(*Call))
      Outputs.push_back(Call);
    else if (Call && isWait(*Call))
      Waiting.push_back(Call);
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
    for (const Access &A : accessesOf(*F)) {
      Emulated E = emulatedOf(A, Wanted);
      if (E.Types.empty())
        continue;
      if (chargesLeft())
        Marks.mark(A, E);
      else
        charge(A, E, K.Made);
    }
    announceUnmapped(*F);
    chargeCalls(*F, Unsafe, Wanted, K.Made);
    if (!chargesLeft())
      chargeOutputs(*F, K.Made);
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
