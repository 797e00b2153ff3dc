// See Turns.h.
#include "plan/Turns.h"

#include "plan/Regions.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

using facts::Instruction;
using facts::Op;
using facts::Register;

Turns::Turns(const Program &P, const Inference &Known, const Everything &All, const Moved &What,
             llvm::ArrayRef<FunctionId> Load, llvm::ArrayRef<FunctionId> Save)
    : P(P), Known(Known), All(All), What(What) {
  findRunning(Load, Save);
  Flushes = flushes();
  for (InstanceId In : Running)
    look(In);
  spread();
  choose();
}

bool Turns::opensToWrite(InstanceId In) const {
  const FunctionInfo &F = All.visits().functionOf(In);
  return llvm::any_of(F.Body->Body, [&](const Instruction &I) {
    return I.Code == Op::Call && I.A != None && writesOnly(I, Known.effect(P.entity(F, I.A)));
  });
}

/// From the entries on, without what loads, and without what opens a file to write it.
void Turns::findRunning(llvm::ArrayRef<FunctionId> Load, llvm::ArrayRef<FunctionId> Save) {
  Running = All.reached([&](InstanceId In) {
    FunctionId Id = All.functionOf(In);
    return llvm::is_contained(Load, Id) || llvm::is_contained(Save, Id) || opensToWrite(In);
  });
}

bool Turns::leadsToMoving(InstanceId In, Register Address, bool Bytes) const {
  NodeId N = All.visits().node(In, Address);
  return N != None && anyOf(All.graph().pointees(N), [&](LocationId Each) {
           ObjectId To = All.graph().at(Each).In;
           return What.moves(To) && (Bytes || !What.isBytes(To));
         });
}

bool Turns::leadsToRoot(InstanceId In, Register Address) const {
  NodeId N = All.visits().node(In, Address);
  return N != None && anyOf(All.graph().pointees(N), [&](LocationId Each) {
           Location At = All.graph().at(Each);
           return What.roots().count({At.In, At.Offset}) != 0;
         });
}

/// A store to what moves, by the program or by a library function that is told to.
bool Turns::changesMoving(InstanceId In, const Instruction &I, bool Bytes) const {
  if (I.Code == Op::Store || I.Code == Op::CopyObject)
    return leadsToMoving(In, I.A, Bytes);
  if (I.Code != Op::Call || I.A == None)
    return false;
  const FunctionInfo &F = All.visits().functionOf(In);
  ExternalEffect E = Known.effect(P.entity(F, I.A));
  bool Writes = E.What == Effect::CopyBytes || E.What == Effect::Release || E.What == Effect::Read;
  return Writes && E.A >= 0 && E.A < I.ArgumentCount &&
         leadsToMoving(In, F.Body->Arguments[I.FirstArgument + E.A], Bytes);
}

bool Turns::isChange(InstanceId In, const Instruction &I) const {
  bool Stores = I.Code == Op::Store || I.Code == Op::CopyObject;
  return changesMoving(In, I, /*Bytes=*/true) || (Stores && leadsToRoot(In, I.A));
}

std::optional<Output> Turns::output(InstanceId In, const Instruction &Call) const {
  Entity Callee;
  if (Call.Code == Op::Call && Call.A != None)
    Callee = P.entity(All.visits().functionOf(In), Call.A);
  return Callee.What == Entity::External ? outputOf(P.externals()[Callee.Id].Name) : std::nullopt;
}

/// What a program that flushes prints leaves it with the flush.
bool Turns::flushes() const {
  return llvm::any_of(Running, [&](InstanceId In) {
    return llvm::any_of(All.visits().functionOf(In).Body->Body, [&](const Instruction &I) {
      std::optional<Output> Out = output(In, I);
      return Out && Out->How == OutputWay::Flush && !isErrorOutput(In, I, Out->Where);
    });
  });
}

/// True when argument \p Where of \p Call is one of the streams of the C library.
bool Turns::isStream(InstanceId In, const Instruction &Call, int Where,
                     llvm::StringRef Name) const {
  const FunctionInfo &F = All.visits().functionOf(In);
  if (Where < 0 || Where >= Call.ArgumentCount)
    return false;
  std::set<Register> Behind =
      registersBehind(*F.Body, F.Body->Arguments[Call.FirstArgument + Where]);
  std::set<Register> Addresses;
  for (const Instruction &I : F.Body->Body)
    if (I.Code == Op::Load && Behind.count(I.Dst))
      Addresses.insert(I.A);
  return llvm::any_of(F.Body->Body, [&](const Instruction &I) {
    return I.Code == Op::AddressOf && Addresses.count(I.Dst) &&
           F.unit().text(F.unit().Symbols[I.A].Name) == Name;
  });
}

bool Turns::isErrorOutput(InstanceId In, const Instruction &Call, int Where) const {
  return isStream(In, Call, Where, "stderr");
}

bool Turns::readsStandardInput(InstanceId In, const Instruction &Call) const {
  const FunctionInfo &F = All.visits().functionOf(In);
  Entity Callee;
  if (Call.Code == Op::Call && Call.A != None)
    Callee = P.entity(F, Call.A);
  if (Callee.What != Entity::External)
    return false;
  if (llvm::is_contained({"getchar", "getchar_unlocked", "gets", "scanf", "vscanf"},
                         P.externals()[Callee.Id].Name))
    return true;
  return isStream(In, Call, Known.effect(Callee).B, "stdin");
}

/// Before a terminal is read, the C library writes what the standard output has.
bool Turns::isPrompt(InstanceId In, const Instruction &Call, const Output &Out) const {
  if (Out.How != OutputWay::Stream || (Out.Where >= 0 && !isStream(In, Call, Out.Where, "stdout")))
    return false;
  const std::vector<Instruction> &Body = All.visits().functionOf(In).Body->Body;
  return llvm::any_of(
      Body, [&](const Instruction &I) { return &I > &Call && readsStandardInput(In, I); });
}

/// A call that gives something out, unless it is known to be the error output.
bool Turns::isAnswer(InstanceId In, const Instruction &Call) const {
  std::optional<Output> Out = output(In, Call);
  if (!Out || isErrorOutput(In, Call, Out->Where))
    return false;
  return Out->How != (Flushes ? OutputWay::Stream : OutputWay::Flush) ||
         (Flushes && isPrompt(In, Call, *Out));
}

void Turns::look(InstanceId In) {
  const FunctionInfo &F = All.visits().functionOf(In);
  std::vector<bool> Dead = Known.deadRegions(All.functionOf(In));
  Seen Here;
  for (const Instruction &I : F.Body->Body) {
    if (Dead[I.Region])
      continue;
    if (isChange(In, I)) {
      Here.Changes.push_back(&I);
      Changed.insert(In);
      if (changesMoving(In, I, /*Bytes=*/false)) {
        Building.insert(In);
        Here.Builds.push_back(&I);
      }
    }
    if (isAnswer(In, I)) {
      Here.Answers.push_back(&I);
      Answering.insert(In);
      if (isPrompt(In, I, *output(In, I)))
        Asking.insert(All.functionOf(In));
    }
  }
  Events[In] = std::move(Here);
}

/// What a function calls, it does.
void Turns::spread() {
  for (std::set<InstanceId> *Set : {&Changed, &Answering, &Building}) {
    std::vector<InstanceId> Work(Set->begin(), Set->end());
    while (!Work.empty()) {
      InstanceId In = Work.back();
      Work.pop_back();
      for (size_t Each : All.to(In))
        if (InstanceId Caller = All.edges()[Each].Caller;
            Running.count(Caller) && Set->insert(Caller).second)
          Work.push_back(Caller);
    }
  }
  for (InstanceId In : Changed)
    for (size_t Each : All.from(In)) {
      const Edge &Call = All.edges()[Each];
      if (Changed.count(Call.Callee))
        Events[In].Changes.push_back(Call.Call);
      if (Building.count(Call.Callee))
        Events[In].Builds.push_back(Call.Call);
    }
}

bool Turns::isHalfDone(InstanceId In, const Instruction &Call) {
  auto [Known, New] = HalfDone.try_emplace({In, &Call}, false);
  if (New)
    Known->second = findHalfDone(In, Call);
  return Known->second;
}

bool Turns::findHalfDone(InstanceId In, const Instruction &Call) const {
  const facts::Function &Body = *All.visits().functionOf(In).Body;
  uint32_t Loop = innermostLoop(Body, Call.Region);
  bool Before = false, Behind = false;
  for (const Instruction *Each : Events.at(In).Builds) {
    if (Each == &Call || !isWithin(Body, Each->Region, Loop) ||
        !mayBothRun(Body, Each->Region, Call.Region))
      continue;
    if (Each < &Call)
      Before |= !leavesBefore(Body, *Each, Call);
    else
      Behind |= !leavesBefore(Body, Call, *Each);
  }
  return Before && Behind;
}

/// The callers that are in the middle of a change while \p In runs.
std::set<InstanceId> Turns::amidst(InstanceId In) {
  std::set<InstanceId> Tried = {In}, Found;
  std::vector<InstanceId> Work = {In};
  while (!Work.empty()) {
    InstanceId At = Work.back();
    Work.pop_back();
    for (size_t Each : All.to(At)) {
      const Edge &Call = All.edges()[Each];
      if (!Running.count(Call.Caller))
        continue;
      if (isHalfDone(Call.Caller, *Call.Call))
        Found.insert(Call.Caller);
      else if (Tried.insert(Call.Caller).second)
        Work.push_back(Call.Caller);
    }
  }
  return Found;
}

/// The outermost functions that change and answer nothing.
void Turns::chooseAtomic(InstanceId In, std::set<InstanceId> &Tried) {
  if (!Tried.insert(In).second || !Building.count(In))
    return;
  bool IsEntry = All.to(In).empty();
  if (!IsEntry && !Answering.count(In)) {
    Atomic.insert(All.functionOf(In));
    return;
  }
  for (size_t Each : All.from(In))
    if (InstanceId Callee = All.edges()[Each].Callee; Running.count(Callee))
      chooseAtomic(Callee, Tried);
}

/// True when some caller of \p In makes changes at all.
bool Turns::comesBehindChange(InstanceId In) const {
  std::set<InstanceId> Tried = {In};
  std::vector<InstanceId> Work = {In};
  while (!Work.empty()) {
    InstanceId At = Work.back();
    Work.pop_back();
    for (size_t Each : All.to(At))
      if (InstanceId Caller = All.edges()[Each].Caller; Running.count(Caller)) {
        if (Building.count(Caller))
          return true;
        if (Tried.insert(Caller).second)
          Work.push_back(Caller);
      }
  }
  return Building.count(In) != 0;
}

/// An answer is covered by a commit on entry to its function, unless that makes a change before it:
/// then what makes the change has to be whole by itself.
void Turns::chooseFor(InstanceId In, std::set<InstanceId> &Tried) {
  const facts::Function &Body = *All.visits().functionOf(In).Body;
  const Seen &Here = Events.at(In);
  bool IsEntry = All.to(In).empty();
  for (const Instruction *Answer : Here.Answers) {
    bool Covered = true;
    for (const Instruction *Each : Here.Changes) {
      if (Each >= Answer || !mayBothRun(Body, Each->Region, Answer->Region) ||
          leavesBefore(Body, *Each, *Answer))
        continue;
      Covered = false;
      if (Each->Code != Op::Call) {
        Early.push_back({In, Answer});
        if (!IsEntry && Building.count(In))
          Atomic.insert(All.functionOf(In)); // At least its end is durable.
        continue;
      }
      for (size_t Edge : All.from(In))
        if (All.edges()[Edge].Call == Each && Running.count(All.edges()[Edge].Callee))
          chooseAtomic(All.edges()[Edge].Callee, Tried);
    }
    if (Covered && !IsEntry && comesBehindChange(In))
      Commit.insert(All.functionOf(In));
    EntryAnswers |= IsEntry && !Covered;
  }
}

void Turns::choose() {
  for (const auto &[In, Here] : Events)
    if (!Here.Answers.empty())
      for (InstanceId Each : amidst(In)) {
        Early.push_back({In, Here.Answers.front()});
        if (!All.to(Each).empty())
          Atomic.insert(All.functionOf(Each));
      }
  chooseAll();
  if (Commit.empty() && Atomic.empty()) {
    Building = Changed; // A program that changes nothing but texts.
    chooseAll();
  }
  dropNested();
  findAmidAtomic();
  findLate();
}

/// A change within an atomic function is durable when that returns: behind the answers that it gives.
void Turns::findAmidAtomic() {
  for (const auto &[In, Here] : Events) {
    const facts::Function &Body = *All.visits().functionOf(In).Body;
    if (!Atomic.count(All.functionOf(In)))
      continue;
    for (const Instruction *Answer : Here.Answers)
      if (llvm::any_of(Here.Changes, [&](const Instruction *Each) {
            return Each < Answer && mayBothRun(Body, Each->Region, Answer->Region) &&
                   !leavesBefore(Body, *Each, *Answer);
          }))
        Early.push_back({In, Answer});
  }
}

/// A change that no answer follows, behind a call that answers, waits for the next answer. (A question
/// does not tell of the change that is made when it has been answered.)
void Turns::findLate() {
  for (InstanceId In : Running) {
    const facts::Function &Body = *All.visits().functionOf(In).Body;
    for (size_t Each : All.from(In)) {
      const Edge &Answer = All.edges()[Each];
      FunctionId Answers = All.functionOf(Answer.Callee);
      if (!Commit.count(Answers) || Asking.count(Answers))
        continue;
      uint32_t Loop = innermostLoop(Body, Answer.Call->Region);
      auto Follows = [&](const Instruction &Later, const Instruction &First) {
        return &Later > &First && isWithin(Body, Later.Region, Loop) &&
               mayBothRun(Body, Later.Region, First.Region) && !leavesBefore(Body, First, Later);
      };
      for (const Instruction *Change : Events.at(In).Builds) {
        bool Answered = llvm::any_of(All.from(In), [&](size_t Other) {
          const Edge &Next = All.edges()[Other];
          return Answering.count(Next.Callee) &&
                 (Next.Call == Change || Follows(*Next.Call, *Change));
        });
        if (Follows(*Change, *Answer.Call) && !Answered)
          Late.push_back({In, Change});
      }
    }
  }
}

/// A call within another atomic one is a part of that.
void Turns::dropNested() {
  std::map<FunctionId, std::set<InstanceId>> Extents;
  for (FunctionId Id : Atomic)
    Extents[Id] = All.extent({Id});
  std::set<FunctionId> Nested;
  for (FunctionId Id : Atomic) {
    auto IsCovered = [&](InstanceId Caller) {
      return !Running.count(Caller) || llvm::any_of(Extents, [&](const auto &Other) {
        return Other.first != Id && !Nested.count(Other.first) && Other.second.count(Caller);
      });
    };
    bool Inside = true;
    for (InstanceId In : Running)
      if (All.functionOf(In) == Id)
        for (size_t Each : All.to(In))
          Inside = Inside && IsCovered(All.edges()[Each].Caller);
    if (Inside)
      Nested.insert(Id);
  }
  for (FunctionId Id : Nested)
    Atomic.erase(Id);
}

void Turns::chooseAll() {
  std::set<InstanceId> Tried;
  for (const auto &[In, Here] : Events)
    if (!Here.Answers.empty())
      chooseFor(In, Tried);
  if (Commit.empty() && Atomic.empty())
    for (InstanceId In : All.entries())
      chooseAtomic(In, Tried);
}

} // namespace nvmove::plan
