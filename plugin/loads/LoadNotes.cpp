// Announced loads: see LoadNotes.h.
#include "loads/LoadNotes.h"

#include "base/Settings.h"
#include "emit/Abi.h"
#include "ir/Covered.h"
#include "ir/Origin.h"
#include "unsafe/UnknownCalls.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

bool mayPersist(const Value *Address, const Function &F, const TargetLibraryInfo &Library) {
  return originOf(Address, F, Library, settings().GlobalsMayPersist) == Origin::MayPersist;
}

/// Each access of one range that reads.
SmallVector<Access> readsOf(Function &F, const TargetLibraryInfo &Library, LoadFilter Wants,
                            LoadCounts &Made) {
  SmallVector<Access> Reads;
  for (const Access &A : enumerateAccesses(F, [](const CallBase &) { return false; })) {
    bool Loads = !A.Writes || A.Kind == AccessKind::Exchange;
    bool IsRange = A.Address && !A.Address->getType()->isVectorTy() && (A.Size || A.Length) &&
                   A.Kind != AccessKind::Assembly && A.Kind != AccessKind::Unknown;
    if (!Loads || !IsRange)
      continue;
    if (!mayPersist(A.Address, F, Library))
      ++Made.Volatile;
    else if (Wants(A))
      Reads.push_back(A);
    else
      ++Made.Others;
  }
  return Reads;
}

void announce(IRBuilderBase &At, Value *Address, Value *Size) {
  callAbi(At, "__nvm_load", {Address, At.CreateZExtOrTrunc(Size, At.getInt64Ty())});
}

void announce(const Note &N) {
  IRBuilder<> At(N.Before);
  At.SetInsertPoint(unlikelyBlock(inRange(At, N.Address), N.Before));
  At.SetCurrentDebugLocation(N.Before->getDebugLoc());
  announce(At, N.Address, N.Size ? At.getInt64(N.Size) : N.Length);
}

/// One of the library's that no header declares: the compiler calls it (_FORTIFY_SOURCE).
bool isReserved(const Function &F, const TargetLibraryInfo &Library) {
  LibFunc Its;
  return F.getName().starts_with("__") && F.getName().ends_with("_chk") &&
         Library.getLibFunc(F, Its);
}

/// What described functions read through their arguments.
bool announceCalls(Function &F, const UnsafeTable &Unsafe, const TargetLibraryInfo &Library,
                   LoadFilter Wants, LoadCounts &Made) {
  SmallVector<std::pair<CallBase *, const UnsafeFunction *>> Known;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (const Function *Callee = namedCallee(*Call))
        if (const UnsafeFunction *Found = Unsafe.find(*Callee))
          if (!isInstalled(*Found) || systemFunction(*Call) ||
              isReserved(*Callee, Library)) // else the program has one of that name
            Known.push_back({Call, Found});
  unsigned Before = Made.OfCalls;
  for (auto [Call, Found] : Known) {
    UnsafeCall Its{Call, SmallVector<Value *>(Call->args()), false};
    bytesBefore(
        Its, *Found, Found->Reads,
        [&, Call = Call](Value *Argument) -> Instruction * {
          Access Of;
          Of.At = Call;
          Of.Address = Argument;
          if (!mayPersist(Argument, F, Library) || !Wants(Of))
            return nullptr;
          IRBuilder<> At(Call); // a size may be that of a text, which takes time
          return unlikelyBlock(inRange(At, Argument), Call);
        },
        [&](IRBuilderBase &At, Value *, Value *Address, Value *Size) {
          announce(At, Address, Size);
          ++Made.OfCalls;
        });
  }
  return Made.OfCalls != Before;
}

} // namespace

void LoadCounts::summary(const Module &M, raw_ostream &OS) const {
  OS << "nvmove: " << M.getSourceFileName() << ": loads: " << Announced << " announced, " << Once
     << " announced once before their loop, " << OfCalls << " announced before calls, " << Covered
     << " already announced, " << Volatile << " of volatile memory";
  if (!settings().EmulateTypes.empty())
    OS << ", " << Others << " of other types";
  OS << "\n";
}

void announceSourceLoads(Function &F, const UnsafeTable &Unsafe, const TargetLibraryInfo &Library,
                         LoadFilter Wants, LoadCounts &Made) {
  for (const Access &A : readsOf(F, Library, Wants, Made)) {
    announce(Note{A.At, A.Address, A.Size, A.Length});
    ++Made.Announced;
  }
  announceCalls(F, Unsafe, Library, Wants, Made);
}

void LoadNotes::find(const Commits &MayCommit, const LoopAnalyses &Analyses, LoadCounts &Made) {
  SmallVector<Access> Reads = readsOf(F, Library, Wants, Made);
  BitVector Pending = findCovered(F, Reads, MayCommit);
  Made.Covered += Pending.count();
  Pending.flip();
  unsigned All = Pending.count();
  Notes = coalesceLoops(F, Reads, Pending, MayCommit, Analyses);
  Made.Once += All - Pending.count();
  Made.Announced += Pending.count();
  for (unsigned N : Pending.set_bits())
    Notes.push_back(Note{Reads[N].At, Reads[N].Address, Reads[N].Size, Reads[N].Length});
}

bool LoadNotes::place(LoadCounts &Made) {
  for (const Note &N : Notes)
    announce(N);
  return announceCalls(F, Unsafe, Library, Wants, Made) || !Notes.empty();
}

} // namespace nvmove::plugin
