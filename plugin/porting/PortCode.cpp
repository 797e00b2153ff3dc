// Scopes, allocators, the load and the roots: see PortCode.h.
#include "porting/PortCode.h"

#include "base/Frontend.h"
#include "emit/Abi.h"
#include "ir/Exits.h"
#include "ir/Landings.h"
#include "porting/Placed.h"
#include "porting/Port.h"
#include "porting/PortRoots.h"

#include "nvmove/abi.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// For messages.
constexpr StringLiteral OfPort = "a function of the port file";

enum class PlaceMember : unsigned { Type = 0, Scope = 1 };

Value *placing(IRBuilderBase &At, PlaceMember Member) {
  Module &M = *At.GetInsertBlock()->getModule();
  constexpr StringRef Name = "__nvm_placing";
  auto *Shape = StructType::get(At.getInt64Ty(), At.getInt64Ty());
  static_assert(sizeof(nvm_place) == 16, "the type above has the shape of struct nvm_place");
  GlobalVariable *Place = M.getNamedGlobal(Name);
  if (!Place)
    Place = new GlobalVariable(M, Shape, false, GlobalValue::ExternalLinkage, nullptr, Name,
                               nullptr, GlobalValue::InitialExecTLSModel);
  return At.CreateStructGEP(Shape, At.CreateThreadLocalAddress(Place),
                            static_cast<unsigned>(Member));
}

/// Sets the scope, and gives the one before.
Value *enterScope(IRBuilderBase &At, Value *Scope) {
  Value *Before = At.CreateLoad(At.getInt64Ty(), placing(At, PlaceMember::Scope));
  At.CreateStore(Scope, placing(At, PlaceMember::Scope));
  return Before;
}

void runInScope(Function &F, function_ref<Value *(IRBuilder<> &)> ScopeAt) {
  IRBuilder<> At = atEntry(F);
  Value *Before = enterScope(At, ScopeAt(At));
  auto Leave = [&](IRBuilder<> &End) { End.CreateStore(Before, placing(End, PlaceMember::Scope)); };
  beforeReturns(F, OfPort, Leave);
  beforeUnwinding(F, [&](IRBuilder<> &End, Value *) { Leave(End); });
}

/// The first argument of the source: before it may be the place of a result. Null: not an address.
Argument *firstArgument(Function &F) {
  unsigned N = F.hasStructRetAttr();
  return F.arg_size() > N && F.getArg(N)->getType()->isPointerTy() ? F.getArg(N) : nullptr;
}

/// NVM_SCOPE_POOL when \p First lies in the reserved range.
Value *scopeOf(Argument &First, IRBuilder<> &At) {
  Value *Address = At.CreatePtrToInt(&First, At.getInt64Ty());
  Value *Tag = At.CreateLShr(Address, NVM_RANGE_SHIFT);
  static_assert(NVM_SCOPE_POOL == 1, "the comparison gives the scope");
  return At.CreateZExt(At.CreateICmpEQ(Tag, At.getInt64(NVM_RANGE_TAG)), At.getInt64Ty());
}

/// The entry for \p F. A copy for inlining, of what is defined elsewhere, is treated as the entry says, but
/// does not show that the program has such a function: it may be one of the C library's.
const port::Entry *entryOf(ArrayRef<port::Entry> List, const Function &F) {
  if (!F.hasAvailableExternallyLinkage())
    return findEntry(List, F.getName());
  const auto *Found = find_if(List, [&](const port::Entry &E) { return E.Name == F.getName(); });
  return Found == List.end() ? nullptr : Found;
}

bool placeScopes(Module &M, const port::PortFile &File) {
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    bool Persistent = entryOf(File.Persistent, F);
    if (Persistent || entryOf(File.Volatile, F)) {
      runInScope(F, [&](IRBuilder<> &At) { return At.getInt64(Persistent ? NVM_SCOPE_POOL : 0); });
      Changed = true;
    } else if (Argument *First = firstArgument(F); First && entryOf(File.Beside, F)) {
      runInScope(F, [&](IRBuilder<> &At) { return scopeOf(*First, At); });
      Changed = true;
    }
  }
  return Changed;
}

/// What stands in place of a function of the C library.
StringRef replacement(StringRef Name) {
  return StringSwitch<StringRef>(Name)
      .Case("malloc", "__nvm_port_malloc")
      .Case("calloc", "__nvm_port_calloc")
      .Case("realloc", "__nvm_port_realloc")
      .Case("reallocarray", "__nvm_port_reallocarray")
      .Case("strdup", "__nvm_port_strdup")
      .Case("strndup", "__nvm_port_strndup")
      .Case("asprintf", "__nvm_port_asprintf")
      .Case("vasprintf", "__nvm_port_vasprintf")
      .Case("__asprintf_chk", "__nvm_port_asprintf_chk")
      .Case("__vasprintf_chk", "__nvm_port_vasprintf_chk")
      .Case("getline", "__nvm_port_getline")
      .Cases("getdelim", "__getdelim", "__nvm_port_getdelim")
      .Case("fork", "__nvm_port_fork")
      .Case("daemon", "__nvm_port_daemon")
      .Default("");
}

bool isCallOf(const User *U, const Function &Callee) {
  auto *Call = dyn_cast<CallBase>(U);
  return Call && Call->getCalledOperand() == &Callee;
}

/// A thread may be cancelled in some of them, as in getline, which passes handlers of the program.
void replaceCall(CallBase &Call, FunctionCallee By) {
  bool Throws = !Call.doesNotThrow();
  Call.setCalledFunction(By);
  Call.setAttributes(AttributeList());
  if (Throws)
    cast<Function>(By.getCallee())->removeFnAttr(Attribute::NoUnwind);
  else
    Call.setDoesNotThrow();
}

/// Where the address is taken, for calls through pointers. True when it was.
bool replaceAddress(Function &Callee, FunctionCallee By) {
  if (!Callee.hasAddressTaken())
    return false;
  Callee.replaceUsesWithIf(By.getCallee(), [](Use &U) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    return !Call || !Call->isCallee(&U);
  });
  return true;
}

/// In the bodies of the allocators, or everywhere when the C library's own is one.
bool replaceAllocators(Module &M, const port::PortFile &File) {
  for (const auto *List : {&File.Allocators, &File.Bytes})
    for (Function &F : M)
      if (!F.isDeclaration())
        entryOf(*List, F);
  bool Changed = false;
  for (StringRef Name :
       {"malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", "asprintf", "vasprintf",
        "__asprintf_chk", "__vasprintf_chk", "getline", "getdelim", "__getdelim"}) {
    Function *Callee = M.getFunction(Name);
    if (!Callee || !Callee->isDeclarationForLinker()) // a header's copy is the library's, too
      continue;
    bool Everywhere = findEntry(File.Allocators, unchecked(Name));
    if (Everywhere)
      Changed |= replaceAddress(*Callee, abiFunction(M, replacement(Name)));
    for (User *U : make_early_inc_range(Callee->users())) {
      if (!isCallOf(U, *Callee))
        continue;
      auto &Call = *cast<CallBase>(U);
      if (!Everywhere && !entryOf(File.Allocators, *Call.getFunction()))
        continue;
      replaceCall(Call, abiFunction(M, replacement(Name)));
      Changed = true;
    }
  }
  return Changed;
}

/// The type that a call announced ends with the call, whether it allocated or not.
bool endTypes(Module &M, const port::PortFile &File) {
  bool Changed = false;
  for (Function &F : M)
    if (!F.isDeclaration() && entryOf(File.Allocators, F)) {
      auto End = [](IRBuilder<> &At) {
        At.CreateStore(At.getInt64(0), placing(At, PlaceMember::Type));
      };
      beforeReturns(F, OfPort, End);
      beforeUnwinding(F, [&](IRBuilder<> &At, Value *) { End(At); });
      Changed = true;
    }
  return Changed;
}

/// What returns a second time is in the scope of the first: longjmp leaves those in between.
bool keepScopes(Module &M) {
  SmallVector<CallInst *> Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && isSetjmp(*Call))
        Calls.push_back(Call);
  for (CallInst *Call : Calls) {
    Function &F = *Call->getFunction();
    IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
    AllocaInst *Kept = Entry.CreateAlloca(Entry.getInt64Ty());
    IRBuilder<> At(Call);
    Value *Scope = At.CreateLoad(At.getInt64Ty(), placing(At, PlaceMember::Scope));
    At.CreateStore(Scope, Kept, /*isVolatile=*/true);
    At.SetInsertPoint(Call->getNextNode());
    Value *Before = At.CreateLoad(At.getInt64Ty(), Kept, /*isVolatile=*/true);
    At.CreateStore(Before, placing(At, PlaceMember::Scope));
    At.CreateStore(At.getInt64(0), placing(At, PlaceMember::Type));
  }
  return !Calls.empty();
}

/// Not vfork, whose child has the parent's own memory, and the pool with it.
bool replaceFork(Module &M) {
  bool Changed = false;
  for (StringRef Name : {"fork", "daemon"}) {
    Function *Callee = M.getFunction(Name);
    if (!Callee || !Callee->isDeclaration())
      continue;
    for (User *U : make_early_inc_range(Callee->users()))
      if (isCallOf(U, *Callee))
        replaceCall(*cast<CallBase>(U), abiFunction(M, replacement(Name)));
    Changed = true;
  }
  return Changed;
}

/// The function gives \p Attached at once when the pool has what it would load.
void makeLoad(Function &F, int64_t Attached) {
  F.removeFnAttr(Attribute::AlwaysInline);
  F.addFnAttr(Attribute::NoInline);
  beforeReturns(F, OfPort,
                [](IRBuilder<> &At) { callAbi(At, "__nvm_load_end", {frameAddress(At)}); });
  beforeUnwinding(
      F, [](IRBuilder<> &At, Value *) { callAbi(At, "__nvm_load_left", {frameAddress(At)}); });
  IRBuilder<> At = atEntry(F);
  Value *Has = At.CreateIsNotNull(callAbi(At, "__nvm_load_begin", {frameAddress(At)}));
  Instruction *Out = SplitBlockAndInsertIfThen(Has, At.GetInsertPoint(), /*Unreachable=*/true);
  IRBuilder<> End(Out);
  llvm::Type *Result = F.getReturnType();
  if (Result->isVoidTy())
    End.CreateRetVoid();
  else if (Result->isIntegerTy())
    End.CreateRet(ConstantInt::getSigned(Result, Attached));
  else
    End.CreateRet(Constant::getNullValue(Result));
  Out->eraseFromParent();
}

/// What the program would not get.
std::string wrongAttached(const port::Load &L, const llvm::Type &Result) {
  std::string Given = "'attached: " + std::to_string(L.Attached) + "' ";
  if (!L.Attached)
    return "";
  if (!Result.isIntegerTy())
    return Given + "is a number, and this function gives none: without it that is null, or nothing";
  unsigned Bits = Result.getIntegerBitWidth();
  return isIntN(Bits, L.Attached) || isUIntN(Bits, static_cast<uint64_t>(L.Attached))
             ? ""
             : Given + "does not fit what this function gives";
}

bool placeLoads(Module &M, const port::PortFile &File) {
  bool Changed = false;
  for (const port::Load &L : File.Loads)
    if (Function *F = M.getFunction(L.Function.Name); F && !F->isDeclaration()) {
      foundInSource(L.Function);
      if (std::string Wrong = wrongAttached(L, *F->getReturnType()); !Wrong.empty())
        portError(M.getContext(), L.Function, Wrong);
      makeLoad(*F, L.Attached);
      Changed = true;
    }
  StringSet<> Done;
  for (const port::Root &R : File.Roots) {
    Function *F = R.After.Name.empty() ? nullptr : M.getFunction(R.After.Name);
    if (!F || F->isDeclaration())
      continue;
    foundInSource(R.After);
    if (!Done.insert(R.After.Written).second)
      continue;
    beforeReturns(*F, OfPort, [&](IRBuilder<> &At) {
      callAbi(At, "__nvm_roots_after", {At.CreateGlobalString(R.After.Written)});
    });
    Changed = true;
  }
  return Changed;
}

/// The markers of PortSource.h.
bool lowerMarkers(Module &M) {
  bool Changed = false;
  auto Lower = [&](StringRef Name, function_ref<Value *(IRBuilder<> &, CallBase &)> Make) {
    Function *Marker = M.getFunction(Name);
    if (!Marker)
      return;
    for (User *U : make_early_inc_range(Marker->users())) {
      auto &Call = *cast<CallBase>(U);
      IRBuilder<> At(&Call);
      if (Value *Result = Make(At, Call))
        Call.replaceAllUsesWith(Result);
      Call.eraseFromParent();
    }
    Marker->eraseFromParent();
    Changed = true;
  };
  Lower("__nvm_place", [](IRBuilder<> &At, CallBase &Call) {
    At.CreateStore(Call.getArgOperand(0), placing(At, PlaceMember::Type));
    return Call.getArgOperand(1);
  });
  Lower("__nvm_scope_leave", [](IRBuilder<> &At, CallBase &Call) -> Value * {
    Value *Before = At.CreateLoad(At.getInt64Ty(), Call.getArgOperand(0));
    At.CreateStore(Before, placing(At, PlaceMember::Scope));
    return nullptr;
  });
  Lower("__nvm_scope_enter",
        [](IRBuilder<> &At, CallBase &Call) { return enterScope(At, Call.getArgOperand(0)); });
  return Changed;
}

bool placeEnds(Module &M, const port::PortFile &File) {
  bool Changed = false;
  for (Function &F : M)
    if (const port::Entry *E = F.isDeclaration() ? nullptr : entryOf(File.End, F)) {
      F.removeFnAttr(Attribute::AlwaysInline);
      F.addFnAttr(Attribute::NoInline);
      IRBuilder<> At = atEntry(F);
      callAbi(At, "__nvm_port_ends", {At.CreateGlobalString(E->Written)});
      Changed = true;
    }
  return Changed;
}

} // namespace

bool carryOutPort(Module &M) {
  const port::PortFile *File = portFile();
  if (!File)
    return false;
  bool Changed = lowerMarkers(M);
  Changed |= replaceAllocators(M, *File);
  Changed |= endTypes(M, *File);
  Changed |= placeScopes(M, *File);
  Changed |= keepScopes(M);
  Changed |= placeLoads(M, *File);
  Changed |= placeEnds(M, *File);
  Changed |= redirectPlaced(M);
  Changed |= emitRoots(M);
  if (!File->Roots.empty())
    Changed |= replaceFork(M);
  return Changed;
}

} // namespace nvmove::plugin
