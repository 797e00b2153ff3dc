// Declarations made from abi.def: see Abi.h. The C prototypes of the list are turned into IR types
// by the compiler itself, so plugin and runtime cannot disagree about a parameter.
#include "emit/Abi.h"

#include "nvmove/abi.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

template <class T> struct IrType {
  static Type *get(LLVMContext &C) { return IntegerType::get(C, 8 * sizeof(T)); }
};
template <class T> struct IrType<T *> {
  static Type *get(LLVMContext &C) { return PointerType::getUnqual(C); }
};
template <> struct IrType<void> {
  static Type *get(LLVMContext &C) { return Type::getVoidTy(C); }
};

template <class F> struct IrFunction;
template <class R, class... A> struct IrFunction<R(A...)> {
  static FunctionType *get(LLVMContext &C) {
    return FunctionType::get(IrType<R>::get(C), {IrType<A>::get(C)...}, false);
  }
};
template <class R, class... A> struct IrFunction<R(A..., ...)> {
  static FunctionType *get(LLVMContext &C) {
    return FunctionType::get(IrType<R>::get(C), {IrType<A>::get(C)...}, true);
  }
};

struct Entry {
  StringRef Name;
  FunctionType *(*Type)(LLVMContext &);
  bool PreserveMost;
  bool StaticChain; ///< an address, before the parameters of the prototype
};

const Entry Table[] = {
#define NVM_ABI_FUNCTION(name, result, parameters, convention)                                     \
  {#name, IrFunction<result parameters>::get, StringRef(#convention) != "NVM_CALL_ORDINARY",       \
   StringRef(#convention) == "NVM_CALL_STATIC_CHAIN"},
#define NVM_ABI_THREAD_LOCAL(name, type)
#include "nvmove/abi.def"
#include "nvmove/abi_raw.def"
#undef NVM_ABI_FUNCTION
#undef NVM_ABI_THREAD_LOCAL
};

const Entry &find(StringRef Name) {
  for (const Entry &E : Table)
    if (E.Name == Name)
      return E;
  llvm_unreachable("not in abi.def");
}

/// The type of the call, with the static chain where there is one.
FunctionType *typeOf(const Entry &E, LLVMContext &C) {
  FunctionType *T = E.Type(C);
  if (!E.StaticChain)
    return T;
  SmallVector<Type *> Parameters{PointerType::getUnqual(C)};
  append_range(Parameters, T->params());
  return FunctionType::get(T->getReturnType(), Parameters, false);
}

} // namespace

FunctionCallee abiFunction(Module &M, StringRef Name) {
  const Entry &E = find(Name);
  FunctionCallee Callee = M.getOrInsertFunction(Name, typeOf(E, M.getContext()));
  if (auto *F = dyn_cast<Function>(Callee.getCallee())) {
    F->setDoesNotThrow();
    if (E.PreserveMost) {
      F->setCallingConv(CallingConv::PreserveMost);
      // Through the global offset table, never the PLT: glibc's lazy resolver destroys r10, in
      // which such a call's caller may keep a value.
      F->addFnAttr(Attribute::NonLazyBind);
    }
    if (E.StaticChain)
      F->addParamAttr(0, Attribute::Nest);
  }
  return Callee;
}

CallInst *callAbi(IRBuilderBase &At, StringRef Name, ArrayRef<Value *> Arguments) {
  Module &M = *At.GetInsertBlock()->getModule();
  CallInst *Call = At.CreateCall(abiFunction(M, Name), Arguments);
  Call->setDoesNotThrow();
  const Entry &E = find(Name);
  if (E.PreserveMost)
    Call->setCallingConv(CallingConv::PreserveMost);
  if (E.StaticChain)
    Call->addParamAttr(0, Attribute::Nest);
  return Call;
}

Value *lineTable(IRBuilderBase &At) {
  Module &M = *At.GetInsertBlock()->getModule();
  constexpr StringRef Name = "__nvm_lines";
  GlobalVariable *Table = M.getNamedGlobal(Name);
  if (!Table) // Initial-exec: no call to find it.
    Table = new GlobalVariable(M, At.getPtrTy(), false, GlobalValue::ExternalLinkage, nullptr, Name,
                               nullptr, GlobalValue::InitialExecTLSModel);
  LoadInst *Load =
      At.CreateAlignedLoad(At.getPtrTy(), At.CreateThreadLocalAddress(Table), Align(8));
  Load->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(Load->getContext(), {}));
  return Load;
}

void referenceAbiVersion(Module &M) {
#define NVM_NAME_OF(symbol) #symbol
#define NVM_NAME_OF_EXPANDED(symbol) NVM_NAME_OF(symbol)
  constexpr StringRef Version = NVM_NAME_OF_EXPANDED(NVM_ABI_VERSION_SYMBOL);
#undef NVM_NAME_OF
#undef NVM_NAME_OF_EXPANDED
  Constant *Symbol = M.getOrInsertGlobal(Version, Type::getInt8Ty(M.getContext()));
  const char *Name = "__nvmove_abi_needed";
  auto *Needed =
      new GlobalVariable(M, Symbol->getType(), true, GlobalValue::LinkOnceODRLinkage, Symbol, Name);
  Needed->setVisibility(GlobalValue::HiddenVisibility);
  Needed->setComdat(M.getOrInsertComdat(Name));
  appendToUsed(M, {Needed});
}

bool isAbiName(StringRef Name) {
  return any_of(Table, [&](const Entry &E) { return E.Name == Name; });
}

bool isAbiFunction(const Function &F) { return isAbiName(F.getName()); }

Value *frameAddress(IRBuilderBase &At) {
  return At.CreateIntrinsic(Intrinsic::frameaddress, {At.getPtrTy()}, {At.getInt32(0)});
}

} // namespace nvmove::plugin
