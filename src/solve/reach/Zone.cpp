// The rounds. See Zone.h.
#include "solve/reach/Zone.h"

#include "solve/Heuristics.h"
#include "solve/summary/Cleared.h"

namespace nvmove::solve {

Zone::Zone(const Program &P, const Inference &Known, const FunctionFlow &Flow, uint64_t StepsMax)
    : P(P), Known(Known), Flow(Flow), V(P, Known, Flow, StepsMax), Kept(V),
      Sources(P, Known, Flow, V, Kept), Effects(P, Known, V, Kept, Sources),
      Selection(P, Known, Flow, V, Kept, Sources, Effects) {}

void Zone::rounds() {
  for (unsigned Round = 0; Round != RoundsMax; ++Round) {
    bool Done = V.graph().run();
    Kept.refresh();
    Sources.findGlobalReaders();
    if (!Done) {
      Stopped = true;
      Notes.push_back("the points-to analysis was stopped at its step limit; types may be missing "
                      "(--steps-max)");
      return;
    }
    bool Changed = false;
    // Calls of functions that are entered now come next: their arguments have to flow in first.
    for (size_t I = 0, Now = V.calls().size(); I != Now; ++I)
      Changed |= Selection.consider(V.calls()[I]);
    if (!Changed)
      return;
  }
  Stopped = true;
  Notes.push_back("visiting was stopped after " + std::to_string(RoundsMax) + " rounds");
}

void Zone::visit(llvm::ArrayRef<FunctionId> Load) {
  Cleared Left(P, Known, Flow);
  for (FunctionId Id : Load)
    for (GlobalId Each : Left.by(Id))
      V.graph().object(V.graph().globalObject(Each)).Emptied = true;
  V.enterInitialisers();
  for (FunctionId Id : Load)
    V.enterLoad(Id);
  Sources.find();
  rounds();
  if (!Effects.opened() && !Kept.anyHandle() && V.graph().filled().empty()) {
    Sources.guess();
    rounds();
  }
  if (Selection.boundHit())
    Notes.push_back("some calls far from the input were not followed (bound reached)");
}

} // namespace nvmove::solve
