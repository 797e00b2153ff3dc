// Accesses that wait: see Emulate.h.
#include "emulation/Emulate.h"

#include "base/Frontend.h"
#include "base/Settings.h"
#include "emit/Abi.h"
#include "emulation/Records.h"
#include "ir/Access.h"
#include "trace/Trace.h"
#include "unsafe/UnsafeCalls.h"

#include "nvmove/abi.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// The mark of accesses whose calls come behind optimisation: an alias scope of this name, with the types
/// behind it. Passes that move or merge accesses keep such scopes, as they keep no metadata of others; it
/// says nothing else, for no access is declared not to alias it.
constexpr const char *LoadMark = "nvmove.emulated-load:", *StoreMark = "nvmove.emulated-store:";
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

bool charge(const Access &A, StringRef Types, Counts &Made) {
  Instruction *Next = behind(*A.At);
  if (!Next || (!A.Size && !A.Length))
    return false;
  IRBuilder<> At(Next);
  At.SetCurrentDebugLocation(A.At->getDebugLoc());
  Constant *Through = textOf(*A.At->getModule(), Types);
  Value *Size = A.Size ? At.getInt64(A.Size) : At.CreateZExtOrTrunc(A.Length, At.getInt64Ty());
  if (!A.Writes || A.Kind == AccessKind::Exchange)
    callAbi(At, "__nvm_charge_load", {A.Address, Size, Through});
  if (A.Writes)
    callAbi(At, "__nvm_charge_store", {A.Address, Size, Through});
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

/// Makes one scope for each mark with its types.
class Marker {
public:
  explicit Marker(Module &M)
      : Build(M.getContext()), Domain(Build.createAnonymousAliasScopeDomain()) {}

  void mark(const Access &A, const std::string &Types) {
    std::string Name = (A.Writes ? StoreMark : LoadMark) + Types;
    MDNode *&Scope = Scopes[Name];
    if (!Scope)
      Scope = Build.createAnonymousAliasScope(Domain, Name);
    Instruction &I = *A.At;
    I.setMetadata(LLVMContext::MD_alias_scope,
                  MDNode::concatenate(I.getMetadata(LLVMContext::MD_alias_scope),
                                      MDNode::get(I.getContext(), {Scope})));
  }

private:
  MDBuilder Build;
  MDNode *Domain;
  StringMap<MDNode *> Scopes;
};

/// The types behind the mark of \p A; empty: it has none. Inlining copies scopes: the name stays.
StringRef markOf(const Access &A) {
  const MDNode *Scopes = A.At->getMetadata(LLVMContext::MD_alias_scope);
  if (Scopes)
    for (const MDOperand &Scope : Scopes->operands())
      if (auto *Node = dyn_cast_or_null<MDNode>(Scope.get()))
        if (StringRef Name = AliasScopeNode(Node).getName();
            Name.consume_front(A.Writes ? StoreMark : LoadMark))
          return Name;
  return "";
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
  RecordNames Wanted;
  for (const std::string &Path : settings().EmulateTypes)
    if (Error E = Wanted.addFile(Path)) {
      M.getContext().emitError("nvmove: " + toString(std::move(E)));
      return;
    }
  if (settings().EmulateTypes.empty()) {
    M.getContext().emitError("nvmove: --nvmove-emulate needs the persistent types: "
                             "--nvmove-emulate-types=FILE, as nvmove scan --format=json prints it");
    return;
  }
  Kept K{{}, wantedTypes(M, Wanted)};
  Marker Marks(M);
  for (Function *F : bodiesOf(M)) {
    for (const Access &A : accessesOf(*F)) {
      std::string Types = recordsOf(A, Wanted);
      if (Types.empty())
        continue;
      if (chargesLeft())
        Marks.mark(A, Types);
      else
        charge(A, Types, K.Made);
    }
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
        if (StringRef Types = markOf(A); !Types.empty())
          charge(A, Types, Made);
      chargeOutputs(*F, Made);
    }
  enable(M, *K);
  if (settings().Remarks)
    errs() << "nvmove: " << M.getSourceFileName() << ": charged at " << Made[Loads] << " loads, "
           << Made[Stores] << " stores, " << Made[Copies] << " copies; commits before "
           << Made[Outputs] << " outputs\n";
}

} // namespace nvmove::plugin
