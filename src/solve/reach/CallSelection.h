// Which calls are followed.
//
// A call is followed when it has contact with the input: it is given the handle, input, an object
// made in the zone, or a local that holds one of these. A call without contact is followed only if
// its pointer result is used, or what it stores in a local, or it leads down to the open, or makes
// a table for the load function itself, or allocates in state that its caller then fills with
// input, and never more than ContactlessMax in a row; nor are more than RemovedMax calls in a row
// that carry only what was built and no input. Calls through pointers are resolved by what the
// pointer holds, else by FunctionFlow, else by signature, and then need contact; one with more than
// FewTargets candidates needs input, one with more than SomeTargets is an event and needs the
// handle or a whole record that was read. Error exits and logging are left out.
#pragma once

#include "solve/reach/CallEffects.h"
#include "solve/summary/SharedState.h"

#include <map>
#include <set>

namespace nvmove::solve {

class CallSelection {
public:
  CallSelection(const Program &P, const Inference &Known, const FunctionFlow &Flow, Visits &V,
                const Contents &Kept, const InputSources &Sources, CallEffects &Effects)
      : P(P), Known(Known), Flow(Flow), V(V), Graph(V.graph()), Kept(Kept), Sources(Sources),
        Effects(Effects) {}

  /// Follows \p Call, or applies its effect, as far as what is known by now says so. True when
  /// something is new.
  bool consider(PendingCall &Call);
  /// Some call was not followed because it is too far from the input.
  bool boundHit() const { return BoundHit; }

private:
  bool considerDirect(PendingCall &Call, Entity Callee);
  bool considerIndirect(PendingCall &Call);
  std::set<FunctionId> storedTargets(const PendingCall &Call) const;
  bool follow(PendingCall &Call, FunctionId Target, bool Direct);
  bool isWanted(const PendingCall &Call, FunctionId Target, bool Direct);
  unsigned removed(const PendingCall &Call, FunctionId Target, bool Contact, Look How) const;
  bool isLogging(const PendingCall &Call, const Entity &Callee) const;
  bool makesOnly(const FunctionInfo &F) const;
  bool sharesGlobal(const PendingCall &Call, FunctionId Target) const;
  bool gives(const PendingCall &Call, FunctionId Id) const;
  bool preparesState(const PendingCall &Call, FunctionId Target);

  const Program &P;
  const Inference &Known;
  const FunctionFlow &Flow;
  Visits &V;
  const PointsTo &Graph;
  const Contents &Kept;
  const InputSources &Sources;
  CallEffects &Effects;
  std::map<FunctionId, SharedState> States; ///< Of callers, made when first asked for.
  bool BoundHit = false;
};

} // namespace nvmove::solve
