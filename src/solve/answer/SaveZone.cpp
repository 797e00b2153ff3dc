// See SaveZone.h. Reachability only: a save walks the data it was not given, from the globals, so
// there is no handle to follow. Calls that are given nothing, error exits, logging and what frees
// are left out.
#include "solve/answer/SaveZone.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;

std::set<RecordKey> typesSaved(const Program &P, const Inference &Known, const FunctionFlow &Flow,
                               llvm::ArrayRef<FunctionId> Save) {
  std::set<RecordKey> Read;
  std::set<FunctionId> Visited(Save.begin(), Save.end());
  std::vector<FunctionId> Work(Save.begin(), Save.end());
  auto Visit = [&](FunctionId Id) {
    bool Frees = Known.standsFor(Id).What == Effect::Release;
    if (!Frees && !Known.noReturn(Id) && !Known.formats(Id) && Visited.insert(Id).second)
      Work.push_back(Id);
  };
  while (!Work.empty()) {
    FunctionId Id = Work.back();
    Work.pop_back();
    const FunctionInfo &F = P.function(Id);
    std::vector<bool> Dead = Known.deadRegions(Id);
    for (const Instruction &I : F.Body->Body) {
      if (Dead[I.Region])
        continue;
      if (I.Code == Op::FieldOf || I.Code == Op::SizeOf || I.Code == Op::CopyObject ||
          I.Code == Op::Cast) {
        const Shape &Type = F.shapeOf(I.Ty);
        if (Type.What == Core::Record)
          Read.insert(P.named(Type.Record));
      }
      if (I.Code != Op::Call || (I.ArgumentCount == 0 && I.Implicit))
        continue;
      if (I.A != None) {
        Entity Callee = P.entity(F, I.A);
        if (Callee.What == Entity::Function)
          Visit(Callee.Id);
      } else if (I.B != None) {
        for (FunctionId Target : Flow.at(Id, I.B))
          Visit(Target);
      }
    }
  }
  return Read;
}

} // namespace nvmove::solve
