// Boundaries, marks and type numbers, before optimisation: see Early.h.
#include "Early.h"

#include "Late.h"
#include "base/Frontend.h"
#include "base/Settings.h"
#include "emit/Abi.h"
#include "emit/StaticNames.h"
#include "emulation/Emulate.h"
#include "emulation/Marks.h"
#include "ir/BitFields.h"
#include "ir/Exits.h"
#include "ir/NoAlias.h"
#include "ir/VirtualCalls.h"
#include "loads/LoadNotes.h"
#include "porting/Port.h"
#include "porting/PortCode.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// Calls \p Take for each function that carries an annotation, with its text.
void forAnnotated(Module &M, function_ref<void(Function &, StringRef)> Take) {
  GlobalVariable *List = M.getNamedGlobal("llvm.global.annotations");
  auto *Entries = List ? dyn_cast<ConstantArray>(List->getInitializer()) : nullptr;
  if (!Entries)
    return;
  for (Value *Entry : Entries->operands()) {
    auto *Fields = dyn_cast<ConstantStruct>(Entry);
    StringRef Text;
    auto *F = Fields ? dyn_cast<Function>(Fields->getOperand(0)->stripPointerCasts()) : nullptr;
    if (F && getConstantStringInfo(Fields->getOperand(1)->stripPointerCasts(), Text))
      Take(*F, Text);
  }
}

void keepOutOfLine(Function &F) {
  F.removeFnAttr(Attribute::AlwaysInline);
  F.addFnAttr(Attribute::NoInline);
}

/// Only its beginning, up to the first suspension, would be the transaction.
bool refuseCoroutine(Function &F) {
  if (!F.isPresplitCoroutine())
    return false;
  F.getContext().emitError("nvmove: '" + demangle(F.getName()) +
                           "', marked or named as atomic, is a coroutine, which returns before its "
                           "end: mark functions that it calls");
  return true;
}

void makeAtomic(Function &F) {
  if (refuseCoroutine(F))
    return;
  keepOutOfLine(F);
  beforeReturns(F, "an atomic function",
                [](IRBuilder<> &At) { callAbi(At, "__nvm_atomic_leave", {frameAddress(At)}); });
  beforeUnwinding(F, [](IRBuilder<> &At, Value *Exception) {
    callAbi(At, "__nvm_atomic_passed", {frameAddress(At), Exception});
  });
  IRBuilder<> At = atEntry(F);
  callAbi(At, "__nvm_atomic_enter", {frameAddress(At)});
}

/// What is open commits on entry; \p Point says when.
void makeCommitPoint(Function &F, StringRef Point) {
  keepOutOfLine(F);
  IRBuilder<> At = atEntry(F);
  callAbi(At, Point, {});
}

/// Whoever names an alias would get nothing, for calls by the other name are not it.
void refuseAlias(const GlobalValue &Alias, const GlobalObject *Of) {
  if (none_of(ArrayRef{&settings().Atomic, &settings().Commit, &settings().Split},
              [&](const StringSet<> *Named) { return Named->contains(Alias.getName()); }))
    return;
  std::string Is = Of ? "another name of '" + Of->getName().str() + "': name that function"
                      : "a function that is chosen when the program starts: name each that may be";
  Alias.getContext().emitError("nvmove: '" + Alias.getName() +
                               "', named for a boundary of transactions, is " + Is);
}

void refuseAliases(const Module &M) {
  for (const GlobalAlias &A : M.aliases())
    refuseAlias(A, A.getAliaseeObject());
  for (const GlobalIFunc &I : M.ifuncs())
    refuseAlias(I, nullptr);
}

/// Of a variadic virtual function clang copies the body for a base class whose `this` lies elsewhere ("_ZThn16_" and the
/// function's own name): the copy is one more function that the source marks.
void addCopies(Module &M, SmallPtrSetImpl<Function *> &Marked) {
  SmallVector<Function *> Copies;
  for (Function *Of : Marked) {
    if (!Of->isVarArg() || !Of->getName().starts_with("_Z"))
      continue;
    std::string End = ("_" + Of->getName().drop_front(2)).str();
    for (Function &F : M)
      if (F.isVarArg() && F.getName().starts_with("_ZT") && F.getName().ends_with(End))
        Copies.push_back(&F);
  }
  Marked.insert(Copies.begin(), Copies.end());
}

bool placeBoundaries(Module &M) {
  refuseAliases(M);
  SmallPtrSet<Function *, 8> Atomic, Commit, Split;
  forAnnotated(M, [&](Function &F, StringRef Text) {
    if (Text == "nvmove.atomic")
      Atomic.insert(&F);
    else if (Text == "nvmove.commit")
      Commit.insert(&F);
    else if (Text == "nvmove.split")
      Split.insert(&F);
  });
  for (Function &F : M) {
    if (settings().Atomic.contains(F.getName()))
      Atomic.insert(&F);
    if (settings().Commit.contains(F.getName()))
      Commit.insert(&F);
    if (settings().Split.contains(F.getName()))
      Split.insert(&F);
  }
  for (SmallPtrSet<Function *, 8> *Marked : {&Atomic, &Commit, &Split})
    addCopies(M, *Marked);
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    // The commit point comes first: what is open commits, then the function's own transaction
    // opens.
    if (Atomic.contains(&F))
      makeAtomic(F);
    if (Split.contains(&F))
      makeCommitPoint(F, "__nvm_split_point");
    if (Commit.contains(&F))
      makeCommitPoint(F, "__nvm_commit_point");
    Changed |= Atomic.contains(&F) || Split.contains(&F) || Commit.contains(&F);
  }
  return Changed;
}

/// True when \p U is the address that an instruction writes to, not a value it stores or copies from.
bool isWrittenAddress(const Use &U) {
  auto *I = cast<Instruction>(U.getUser());
  if (isa<StoreInst>(I))
    return U.getOperandNo() == StoreInst::getPointerOperandIndex();
  return isa<AtomicRMWInst, AtomicCmpXchgInst, MemIntrinsic>(I) && U.getOperandNo() == 0;
}

/// Bytes of the field that a mark annotates; 0: not known, or a union's member, whose bytes others
/// share. A member of a union has the union's address. So has a field that is a union: the mark of
/// such a field says its size (FieldAnnotations.h).
uint64_t sizeOfField(const IntrinsicInst &Mark) {
  auto *Arguments = dyn_cast<GlobalVariable>(Mark.getArgOperand(4));
  if (Arguments && Arguments->hasInitializer())
    if (auto *Size =
            dyn_cast_or_null<ConstantInt>(Arguments->getInitializer()->getAggregateElement(0u)))
      return Size->getZExtValue();
  auto *Path = dyn_cast<GEPOperator>(Mark.getArgOperand(0));
  if (!Path || !isa<StructType>(Path->getSourceElementType()))
    return 0;
  auto *Record = dyn_cast<StructType>(Path->getResultElementType());
  if (Record && Record->hasName() && Record->getName().starts_with("union."))
    return 0;
  return Mark.getDataLayout().getTypeAllocSize(Path->getResultElementType());
}

/// An address within a field: \p Room bytes from there to the field's end.
struct WithinField {
  Value *Address;
  uint64_t Room;
};

/// The element of the field that \p Path leads to. None: it may leave the field, as container_of
/// does. An array's index is believed to be within the array, but how far is not known; what is no
/// array has no index but 0.
std::optional<WithinField> elementOf(const WithinField &Field, GetElementPtrInst &Path) {
  const DataLayout &DL = Path.getDataLayout();
  APInt Offset(DL.getIndexTypeSizeInBits(Path.getType()), 0);
  if (Path.accumulateConstantOffset(DL, Offset)) {
    if (Offset.uge(Field.Room))
      return std::nullopt;
    return WithinField{&Path, Field.Room - Offset.getZExtValue()};
  }
  uint64_t Element = DL.getTypeAllocSize(Path.getResultElementType());
  if (!Path.isInBounds() || Element >= Field.Room)
    return std::nullopt;
  return WithinField{&Path, Element};
}

/// Bytes that an instruction writes; 0: not known.
uint64_t writtenBytes(const Instruction &Access) {
  const DataLayout &DL = Access.getDataLayout();
  if (auto *Range = dyn_cast<MemIntrinsic>(&Access)) {
    auto *Length = dyn_cast<ConstantInt>(Range->getLength());
    return Length ? Length->getLimitedValue() : 0;
  }
  if (auto *Store = dyn_cast<StoreInst>(&Access))
    return DL.getTypeStoreSize(Store->getValueOperand()->getType());
  if (auto *Modify = dyn_cast<AtomicRMWInst>(&Access))
    return DL.getTypeStoreSize(Modify->getValOperand()->getType());
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&Access))
    return DL.getTypeStoreSize(Exchange->getNewValOperand()->getType());
  return 0;
}

/// What begins in a field and goes on behind it writes more than the field.
bool staysWithin(const WithinField &Field, const Instruction &Access) {
  uint64_t Size = writtenBytes(Access);
  return Size && Size <= Field.Room;
}

void markVolatile(IntrinsicInst &Mark) {
  SmallVector<WithinField> Work{{&Mark, sizeOfField(Mark)}};
  while (!Work.empty()) {
    WithinField Field = Work.pop_back_val();
    for (Use &U : Field.Address->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (auto *Path = dyn_cast<GetElementPtrInst>(I); Path && U.getOperandNo() == 0) {
        if (std::optional<WithinField> Element = elementOf(Field, *Path))
          Work.push_back(*Element);
      } else if (isWrittenAddress(U) && staysWithin(Field, *I)) {
        I->setMetadata(VolatileFieldMark, MDNode::get(Mark.getContext(), {}));
      }
    }
  }
}

bool resolveFieldAnnotations(Module &M) {
  SmallVector<IntrinsicInst *> Marks;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Mark = dyn_cast<IntrinsicInst>(&I))
        if (Mark->getIntrinsicID() == Intrinsic::ptr_annotation)
          Marks.push_back(Mark);
  bool Changed = false;
  for (IntrinsicInst *Mark : Marks) {
    StringRef Text;
    if (!getConstantStringInfo(Mark->getArgOperand(1), Text) || !Text.starts_with("nvmove."))
      continue;
    if (Text == VolatileFieldMark)
      markVolatile(*Mark);
    Mark->replaceAllUsesWith(Mark->getArgOperand(0));
    Mark->eraseFromParent();
    Changed = true;
  }
  return Changed;
}

bool foldTypeIds(Module &M) {
  Function *Marker = M.getFunction("__nvm_type_id");
  if (!Marker)
    return false;
  bool Changed = false;
  for (User *U : make_early_inc_range(Marker->users())) {
    auto *Call = dyn_cast<CallInst>(U);
    if (!Call || Call->getCalledFunction() != Marker || Call->arg_size() != 2)
      continue;
    // At -O0 the number arrives as `inttoptr (i64 N to ptr)`.
    auto *Cast = dyn_cast<ConstantExpr>(Call->getArgOperand(1)->stripPointerCasts());
    auto *Id = Cast && Cast->getOpcode() == Instruction::IntToPtr
                   ? dyn_cast<ConstantInt>(Cast->getOperand(0))
                   : nullptr;
    if (!Id)
      continue;
    Call->replaceAllUsesWith(ConstantInt::get(Call->getType(), Id->getZExtValue()));
    Call->eraseFromParent();
    Changed = true;
  }
  return Changed;
}

/// Each load that the source has.
bool announceLoads(Module &M, ModuleAnalysisManager &AM) {
  auto &Analyses = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  std::optional<RecordNames> Types;
  if (!settings().EmulateTypes.empty() && !(Types = readTypes(M)))
    return false;
  if (settings().Loads == Settings::Accesses::Optimized) {
    if (Types)
      markReads(M, *Types);
    return Types.has_value(); // the late phase announces them
  }
  auto Wants = [&](const Access &A) { return !Types || goesThrough(A, *Types); };
  UnsafeTable Unsafe = takeUnsafeFiles(M);
  LoadCounts Made;
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasFnAttribute(Attribute::Naked))
      announceSourceLoads(F, Unsafe, Analyses.getResult<TargetLibraryAnalysis>(F), Wants, Made);
  if (settings().Remarks)
    Made.summary(M, errs());
  frontendFacts().Unsafe = std::move(Unsafe); // for the late phase
  return true;
}

} // namespace

PreservedAnalyses EarlyPass::run(Module &M, ModuleAnalysisManager &AM) {
  if (M.getModuleFlag(InstrumentedFlag))
    return PreservedAnalyses::all();
  if (settings().Emulates) {
    findEmulated(M, takeUnsafeFiles(M));
    return PreservedAnalyses::none();
  }
  if (!settings().EmulateTypes.empty() && settings().Loads == Settings::Accesses::None)
    M.getContext().emitError(
        "nvmove: --nvmove-emulate-types goes with --nvmove-emulate=PROFILE or --nvmove-loads");
  if (settings().Raw && settings().Loads != Settings::Accesses::None)
    M.getContext().emitError(
        "nvmove: --nvmove-loads announces loads of libnvmove's pools: a program of "
        "--nvmove-trace=raw has none");
  bool Changed = nameConstants(M);
  Changed |= carryOutPort(M);
  emitPortEntries(M);
  Changed |= resolveFieldAnnotations(M);
  Changed |= markBitFields(M);
  Changed |= markVirtualCalls(M);
  Changed |= foldTypeIds(M);
  Changed |= placeBoundaries(M);
  Changed |= shareRestricted(M);
  if (settings().Loads != Settings::Accesses::None)
    Changed |= announceLoads(M, AM);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace nvmove::plugin
