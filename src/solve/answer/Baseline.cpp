// See Baseline.h. Function pointers are not followed: the paper does not either.
#include "solve/answer/Baseline.h"

#include "solve/summary/Externals.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <map>
#include <set>

namespace nvmove::solve {

namespace {

class Baseline {
public:
  Baseline(const Program &P, const Options &O, ScanResult &Result) : P(P), O(O), Result(Result) {}

  std::set<FunctionId> run(llvm::ArrayRef<FunctionId> Load) {
    for (FunctionId Id : Load)
      Queue.push_back({Id, None, nullptr});
    while (!Queue.empty()) {
      Visit At = Queue.front();
      Queue.pop_front();
      bool Seen = !Visited.insert(At.Function).second;
      if (Seen && O.VisitOnce)
        continue;
      if (!Seen)
        CameFrom[At.Function] = At;
      ++Result.Stats.FunctionsVisited;
      collect(At.Function);
      enqueueCallees(At.Function);
    }
    for (auto &[Key, Type] : Types)
      Result.Types.push_back(std::move(Type));
    llvm::sort(Result.Types, [](const PersistentType &A, const PersistentType &B) {
      return std::tie(A.Name, A.Definition.File) < std::tie(B.Name, B.Definition.File);
    });
    return std::move(Visited);
  }

private:
  struct Visit {
    FunctionId Function = None;
    FunctionId Caller = None;
    const facts::Instruction *Call = nullptr;
  };

  /// (a): "functions that either accept no arguments, or accept only nonpointer built-in types".
  bool takesPointer(const FunctionInfo &F) const {
    for (unsigned I = 0; I != F.Body->ParameterCount; ++I) {
      const Shape &Parameter = F.parameter(I);
      if (Parameter.Pointers || Parameter.What == Core::Record)
        return true;
    }
    return false;
  }

  void enqueueCallees(FunctionId Id) {
    const FunctionInfo &F = P.function(Id);
    for (const facts::Instruction &I : F.Body->Body) {
      if (I.Code != facts::Op::Call || I.A == None)
        continue;
      Entity Callee = P.entity(F, I.A);
      if (Callee.What != Entity::Function)
        continue;
      const FunctionInfo &Target = P.function(Callee.Id);
      if (O.SkipPointerless && !takesPointer(Target))
        continue;
      if (O.SkipLibc &&
          (Target.symbol().System || effectOf(plainName(Target.Name)).What != Effect::Unknown))
        continue;
      // Without (d) a body is analysed once for every call of it, not once for every path to it.
      if (!O.VisitOnce && !CallsSeen.insert(&I).second)
        continue;
      Queue.push_back({Callee.Id, Id, &I});
    }
  }

  void collect(FunctionId Id) {
    const FunctionInfo &F = P.function(Id);
    for (const facts::Assignment &A : F.Body->Assignments) {
      if (A.ByLibrary && !O.LibraryAssigns)
        continue;
      RecordKey Key = P.named(F.View->Records[A.Record]);
      const RecordInfo &Info = P.record(Key);
      if (Info.System || !Info.Complete || Info.Name.empty() || Types.count(Key))
        continue;
      PersistentType Made = P.describe(Key);
      Made.Sureness = Confidence::Low;
      Made.Why = "assigned in a function reachable from the load function";
      chain(Id, Made.Evidence);
      const facts::TranslationUnit &Unit = F.unit();
      Made.Evidence.push_back({EvidenceStep::Kind::Store,
                               {Unit.text(A.Where.File), A.Where.Line, A.Where.Column},
                               A.ByLibrary ? "written by a library call" : "assigned here"});
      Types.emplace(Key, std::move(Made));
    }
  }

  void chain(FunctionId Id, std::vector<EvidenceStep> &Steps) const {
    std::vector<EvidenceStep> Back;
    for (Visit At = CameFrom.at(Id); At.Call; At = CameFrom.at(At.Caller)) {
      const facts::TranslationUnit &Unit = P.function(At.Caller).unit();
      const facts::Location &Where = At.Call->Where;
      Back.push_back({EvidenceStep::Kind::Call,
                      {Unit.text(Where.File), Where.Line, Where.Column},
                      "calls '" + P.function(At.Function).Name + "'"});
    }
    Steps.insert(Steps.end(), Back.rbegin(), Back.rend());
  }

  const Program &P;
  const Options &O;
  ScanResult &Result;
  std::deque<Visit> Queue;
  std::set<FunctionId> Visited;
  std::set<const facts::Instruction *> CallsSeen;
  std::map<FunctionId, Visit> CameFrom;
  std::map<RecordKey, PersistentType> Types;
};

} // namespace

std::set<FunctionId> runBaseline(const Program &P, llvm::ArrayRef<FunctionId> Load,
                                 const Options &O, ScanResult &Result) {
  return Baseline(P, O, Result).run(Load);
}

} // namespace nvmove::solve
