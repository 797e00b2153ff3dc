// Warnings about calls that nobody described: see UnknownCalls.h.
#include "unsafe/UnknownCalls.h"

#include "base/Frontend.h"
#include "base/Settings.h"
#include "emit/Abi.h"
#include "ir/Access.h"
#include "ir/Contents.h"
#include "ir/Origin.h"
#include "ir/VirtualCalls.h"

#include "llvm/IR/Module.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

class UnknownCall {
public:
  UnknownCall(CallBase &Call, const UnsafeTable &Unsafe, const TargetLibraryInfo &Library)
      : Call(Call), System(*systemFunction(Call)), Unsafe(Unsafe), Library(Library),
        First(Call.hasStructRetAttr()), Passed(Call.getFunctionType()->getNumParams() - First) {}

  /// How argument \p N, counted with the place of a result, leads to what may be written; "" if it
  /// does not.
  StringRef way(unsigned N) const {
    Value *Argument = Call.getArgOperand(N);
    if (N < First || !Argument->getType()->isPointerTy()) // that place is a write of its own
      return "";
    if (N == First && !namedCallee(Call)) // a library's object with virtual functions, of any class
      return "";
    bool Leads = isOneOf(System.LeadingArguments, N);
    bool MayPersist = originOf(Argument, *Call.getFunction(), Library,
                               settings().GlobalsMayPersist) == Origin::MayPersist;
    if (MayPersist && mayWrite(N))
      return "through argument ";
    if (MayPersist)
      return Leads ? "behind argument " : "";
    if (!Leads && !isOneOf(System.UntypedArguments, N) && !isVariable(N))
      return "";
    auto IsLibrarys = [this](const CallBase &Other) {
      const Function *Callee = namedCallee(Other);
      return Callee && !Callee->getName().starts_with("nvm_") && !isAbiFunction(*Callee) &&
             (Unsafe.find(*Callee) || systemFunction(*Callee));
    };
    Contents Inside(*Call.getFunction(), Library, settings().GlobalsMayPersist, IsLibrarys);
    return Inside.mayLead(Argument, Leads) ? "behind argument " : "";
  }

  unsigned first() const { return First; }

private:
  bool isVariable(unsigned N) const { return N - First >= Passed && System.Variadic; }

  bool isOneOf(uint64_t Set, unsigned N) const {
    return N - First < Passed && System.isOneOf(Set, N - First, Passed);
  }

  bool mayWrite(unsigned N) const {
    return (isVariable(N) || isOneOf(System.WritableArguments, N)) && !Call.onlyReadsMemory(N);
  }

  CallBase &Call;
  const SystemFunction &System;
  const UnsafeTable &Unsafe;
  const TargetLibraryInfo &Library;
  unsigned First;  ///< argument of the program
  unsigned Passed; ///< of the parameters that have a name
};

/// What to do about \p F, which no entry has the name of.
std::string advice(const Function &F, const UnsafeTable &Unsafe) {
  std::string Text = "; describe it in an .unsafe file (--nvmove-unsafe=FILE)";
  const UnsafeFunction *Meant = Unsafe.nearest(F.getName().ltrim('\1'), [&](StringRef Name) {
    return frontendFacts().SystemFunctions.contains(Name) || F.getParent()->getFunction(Name);
  });
  if (Meant)
    Text +=
        "; is '" + Meant->Name + "' at " + Meant->Place + " meant, which is declared nowhere here?";
  return Text;
}

} // namespace

const SystemFunction *systemFunction(const Function &F) {
  if (!F.isDeclaration() || F.isIntrinsic() || isAbiFunction(F))
    return nullptr;
  auto &Known = frontendFacts().SystemFunctions;
  auto Found = Known.find(F.getName().ltrim('\1'));
  return Found == Known.end() ? nullptr : &Found->second;
}

const SystemFunction *systemFunction(const CallBase &Call) {
  const Function *Callee = declaredCallee(Call);
  return Callee ? systemFunction(*Callee) : nullptr;
}

bool warnOfUnknown(CallBase &Call, const UnsafeTable &Unsafe, const TargetLibraryInfo &Library,
                   Report &R) {
  if (Call.onlyReadsMemory())
    return false;
  UnknownCall Unknown(Call, Unsafe, Library);
  for (unsigned N = Unknown.first(); N < Call.arg_size(); ++N) {
    StringRef Way = Unknown.way(N);
    if (Way.empty())
      continue;
    const Function &Callee = *declaredCallee(Call);
    R.warnOnce(Callee.getName(), Call,
               "pre-compiled '" + Callee.getName() + "' may write persistent memory " + Way +
                   Twine(N - Unknown.first() + 1) + advice(Callee, Unsafe));
    return true;
  }
  return false;
}

void warnOfTakenAddresses(Module &M, const UnsafeTable &Unsafe, Report &R) {
  for (Function &F : M) {
    const SystemFunction *System = systemFunction(F);
    if (!System || Unsafe.find(F) || F.onlyReadsMemory() || !F.hasAddressTaken())
      continue;
    if (!frontendFacts().TakenAddresses.contains(F.getName().ltrim('\1')))
      continue; // by the compiler: a destructor for an exception, a table of virtual functions
    if (System->WritableArguments || System->LeadingArguments || System->Variadic)
      R.warnOfTaken(F, "the address of pre-compiled '" + F.getName() +
                           "' is taken, and what calls through it write to persistent memory is "
                           "not logged" +
                           advice(F, Unsafe));
  }
}

} // namespace nvmove::plugin
