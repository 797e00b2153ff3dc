// See Chains.h.
#include "plan/Chains.h"

#include "observe/Fates.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace nvmove::plan {

using facts::Instruction;
using facts::Op;

Chains::Chains(const Program &P) : P(P), Say(P) {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    if (P.function(Id).Body->Symbol != None)
      ByName[P.function(Id).Name].push_back(Id);
}

/// How many parts of the two paths' ends are alike: the file's name, its folder, and so on.
static size_t alike(llvm::StringRef A, llvm::StringRef B) {
  namespace path = llvm::sys::path;
  auto AtA = path::rbegin(A), AtB = path::rbegin(B);
  size_t Parts = 0;
  for (; AtA != path::rend(A) && AtB != path::rend(B) && *AtA == *AtB; ++AtA, ++AtB)
    ++Parts;
  return Parts;
}

FunctionId Chains::functionOf(const observe::Call &C) const {
  auto At = ByName.find(C.Function);
  if (At == ByName.end())
    return None;
  FunctionId Best = None;
  size_t Most = 0;
  bool Only = true;
  for (FunctionId Id : At->second) {
    size_t Parts = alike(Say.definition(Id).File, C.File);
    Only = Parts > Most || (Only && Parts < Most);
    if (Parts > Most) {
      Best = Id;
      Most = Parts;
    }
  }
  if (Most)
    return Only ? Best : None;
  return At->second.size() == 1 ? At->second.front() : None;
}

std::vector<const Instruction *> Chains::callsAt(FunctionId Id, const observe::Call &C,
                                                 llvm::StringRef Callee) const {
  const FunctionInfo &F = P.function(Id);
  std::vector<const Instruction *> Found;
  for (const Instruction &I : F.Body->Body) {
    if (I.Code != Op::Call || I.Where.Line != C.Line || I.A == None)
      continue;
    Entity Of = P.entity(F, I.A);
    if (Of.What == Entity::Function   ? P.function(Of.Id).Name == Callee
        : Of.What == Entity::External ? Callee.empty()
                                      : !Callee.empty())
      Found.push_back(&I);
  }
  return Found;
}

const Instruction *Chains::callAt(FunctionId Id, const observe::Call &C,
                                  llvm::StringRef Callee) const {
  std::vector<const Instruction *> All = callsAt(Id, C, Callee);
  return All.size() == 1 ? All.front() : nullptr;
}

std::vector<observe::Call> Chains::callsOf(const observe::Stack &S) {
  std::vector<observe::Call> Own;
  llvm::copy_if(S.Calls, std::back_inserter(Own),
                [](const observe::Call &C) { return !C.File.empty(); });
  return Own;
}

/// Whether the visit \p In may be the call at \p At of a chain; calls before \p First do not matter.
bool Chains::isOnChain(const Everything &All, InstanceId In,
                       const std::vector<observe::Call> &Calls, size_t At, size_t First) const {
  constexpr size_t Near = 4; ///< Calls that are compared: a visit is not told apart by more.
  if (All.functionOf(In) != functionOf(Calls[At]))
    return false;
  if (At + 1 >= std::min(Calls.size(), First + Near) || All.to(In).empty())
    return true;
  return llvm::any_of(All.to(In), [&](size_t Each) {
    const Edge &Via = All.edges()[Each];
    return Via.Call->Where.Line == Calls[At + 1].Line &&
           isOnChain(All, Via.Caller, Calls, At + 1, First);
  });
}

MadeObjects Chains::madeBy(const Everything &All, const std::vector<observe::Call> &Calls) const {
  MadeObjects Found;
  const Instruction *First = nullptr;
  // The source may know a wrapper of malloc as an allocator: then it is the call of the wrapper that
  // makes the object.
  for (size_t At = 0; At < Calls.size() && Found.Objects.empty(); ++At) {
    FunctionId In = functionOf(Calls[At]);
    std::vector<const Instruction *> May;
    if (In != None)
      May = callsAt(In, Calls[At], At ? Calls[At - 1].Function : "");
    Found.CallFound |= !At && !May.empty();
    for (ObjectId Id = 0; !May.empty() && Id != All.graph().objects(); ++Id) {
      const Object &Made = All.graph().object(Id);
      if (Made.Kind != ObjectKind::Heap || !llvm::is_contained(May, Made.Made.At) ||
          Made.Made.In >= All.instances() || !isOnChain(All, Made.Made.In, Calls, At, At))
        continue;
      Found.Objects.push_back(Id);
      Found.FromSeveral |= First && First != Made.Made.At;
      First = Made.Made.At;
    }
  }
  return Found;
}

std::vector<std::string> observedNames(const std::vector<std::string> &Named) {
  std::vector<std::string> Names;
  for (const std::string &Each : Named) {
    llvm::StringRef Behind = llvm::StringRef(Each).rsplit(':').second;
    Names.push_back(Behind.empty() ? Each : Behind.str());
  }
  return Names;
}

std::set<ObjectId> seenApart(const Program &P, const Everything &All,
                             const observe::Observation &Seen,
                             const std::vector<std::string> &Load) {
  const Chains Walk(P);
  observe::Fates Found = observe::judge(Seen, observedNames(Load));
  std::set<ObjectId> Data, Apart;
  for (size_t I = 0; Found.LoadRan && I < Seen.Stacks.size(); ++I) {
    const observe::Stack &S = Seen.Stacks[I];
    if (!S.Made || (!Found.Of[I].OfData && !S.LinkedMost))
      continue;
    if (MadeObjects Made = Walk.madeBy(All, Chains::callsOf(S)); Made.areKnown())
      (Found.Of[I].OfData ? Data : Apart).insert(Made.Objects.begin(), Made.Objects.end());
  }
  std::set<RecordKey> DataTypes, OtherTypes;
  auto Types = [&](ObjectId Id, std::set<RecordKey> &Into) {
    for (RecordKey Key : All.graph().object(Id).Types)
      Into.insert(P.named(Key));
  };
  for (ObjectId Id : Data)
    Types(Id, DataTypes);
  for (ObjectId Id : Apart)
    if (!Data.count(Id))
      Types(Id, OtherTypes);
  auto IsApart = [&](RecordKey Key) {
    return OtherTypes.count(P.named(Key)) && !DataTypes.count(P.named(Key));
  };
  for (ObjectId Id = 0; Id != All.graph().objects(); ++Id) {
    const Object &What = All.graph().object(Id);
    if (What.Kind == ObjectKind::Heap && !What.Types.empty() && llvm::all_of(What.Types, IsApart))
      Apart.insert(Id);
  }
  for (ObjectId Id : Data)
    Apart.erase(Id);
  return Apart;
}

} // namespace nvmove::plan
