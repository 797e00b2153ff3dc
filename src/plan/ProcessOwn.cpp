// See ProcessOwn.h.
#include "plan/ProcessOwn.h"

#include "llvm/ADT/StringSet.h"

namespace nvmove::plan {

using facts::Instruction;
using facts::Op;
using facts::Register;

namespace {

/// Their result is a descriptor, or the number of a process or a thread.
bool makesOwn(llvm::StringRef Name) {
  static const llvm::StringSet<> Names = {
      "open",         "open64",        "openat",    "openat64",       "creat",
      "creat64",      "socket",        "accept",    "accept4",        "dup",
      "dup2",         "dup3",          "eventfd",   "epoll_create",   "epoll_create1",
      "inotify_init", "inotify_init1", "signalfd",  "timerfd_create", "memfd_create",
      "shm_open",     "mkstemp",       "mkostemp",  "fileno",         "fileno_unlocked",
      "dirfd",        "fork",          "vfork",     "getpid",         "getppid",
      "gettid",       "pthread_self",  "pidfd_open"};
  return Names.contains(Name);
}

bool takesHandler(llvm::StringRef Name) {
  return Name == "signal" || Name == "sigset" || Name == "bsd_signal" || Name == "sysv_signal";
}

} // namespace

ProcessOwn::ProcessOwn(const Program &P) : P(P) {
  for (bool Grew = true; Grew;) {
    Grew = false;
    for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
      Grew = look(Id) || Grew;
  }
}

/// True: a function gives such a value of which that was not known.
bool ProcessOwn::look(FunctionId Id) {
  const FunctionInfo &F = P.function(Id);
  std::map<Register, FunctionId> Addresses;
  bool New = false;
  auto Copy = [&](Register To, Register From) {
    if (auto At = Makers.find({Id, From}); At != Makers.end())
      Makers.try_emplace({Id, To}, At->second);
  };
  for (const Instruction &I : F.Body->Body) {
    Entity Of = I.Code == Op::AddressOf || (I.Code == Op::Call && I.A != None) ? P.entity(F, I.A)
                                                                               : Entity();
    if (I.Code == Op::AddressOf && Of.What == Entity::Function) {
      Addresses[I.Dst] = Of.Id;
    } else if (I.Code == Op::Copy || I.Code == Op::Cast) {
      Copy(I.Dst, I.A);
      if (auto At = Addresses.find(I.A); At != Addresses.end())
        Addresses[I.Dst] = At->second;
    } else if (I.Code == Op::Call && Of.What == Entity::External) {
      llvm::StringRef Name = P.externals()[Of.Id].Name;
      if (makesOwn(Name) && I.Dst != None)
        Makers.try_emplace({Id, I.Dst}, Name);
      for (unsigned Each = 0; takesHandler(Name) && Each != I.ArgumentCount; ++Each)
        if (auto At = Addresses.find(F.Body->Arguments[I.FirstArgument + Each]);
            At != Addresses.end())
          Handlers.insert(At->second);
    } else if (I.Code == Op::Call && Of.What == Entity::Function) {
      if (auto At = Returning.find(Of.Id); At != Returning.end() && I.Dst != None)
        Makers.try_emplace({Id, I.Dst}, At->second);
    } else if (I.Code == Op::Return) {
      if (auto At = Makers.find({Id, I.A}); At != Makers.end())
        New = Returning.try_emplace(Id, At->second).second || New;
    }
  }
  return New;
}

llvm::StringRef ProcessOwn::maker(FunctionId In, Register Value) const {
  auto At = Makers.find({In, Value});
  return At == Makers.end() ? llvm::StringRef() : At->second;
}

} // namespace nvmove::plan
