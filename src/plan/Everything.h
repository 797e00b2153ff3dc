// The whole program, visited from main on: every call is followed, whatever it is given.
//
// The same engine as for a load (solve/reach/Visits.h), with other questions: which objects does the
// program make at all, and in calls of which functions? A function that gives a pointer to what it
// makes is visited anew from each call, so that a copy of a text that is kept is not the copy of one
// that is not.
#pragma once

#include "solve/reach/CallEffects.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <set>
#include <vector>

namespace nvmove::plan {

using namespace solve;

/// llvm::any_of for a set of locations.
template <typename Test> bool anyOf(const llvm::SparseBitVector<> &Set, Test Holds) {
  for (LocationId Each : Set)
    if (Holds(Each))
      return true;
  return false;
}

/// One visit calls another.
struct Edge {
  InstanceId Caller = None, Callee = None;
  const facts::Instruction *Call = nullptr;
};

class Everything {
public:
  Everything(const Program &P, const Inference &Known, const FunctionFlow &Flow, uint64_t StepsMax);

  /// Follows all that \p Main leads to. False: stopped at the step limit.
  bool visit(FunctionId Main);

  const Visits &visits() const { return V; }
  const PointsTo &graph() const { return V.graph(); }
  const std::vector<Edge> &edges() const { return Edges; }
  const std::vector<size_t> &from(InstanceId Caller) const { return indexed(Outgoing, Caller); }
  const std::vector<size_t> &to(InstanceId Callee) const { return indexed(Incoming, Callee); }
  size_t instances() const { return Count; }
  FunctionId functionOf(InstanceId In) const { return V.instance(In).Function; }
  /// Visits of \p Ids, and all that these call.
  std::set<InstanceId> extent(llvm::ArrayRef<FunctionId> Ids) const;
  /// Visits that are not called by others: main, threads, handlers, initialisers.
  std::vector<InstanceId> entries() const;
  /// What runs from the entries on, without visits for which \p Skip holds and what only they call.
  std::set<InstanceId> reached(llvm::function_ref<bool(InstanceId)> Skip) const;

private:
  static const std::vector<size_t> &indexed(const std::vector<std::vector<size_t>> &In,
                                            InstanceId At) {
    static const std::vector<size_t> Nothing;
    return At < In.size() ? In[At] : Nothing;
  }
  bool consider(PendingCall &Call);
  bool considerOutside(PendingCall &Call, const ExternalEffect &E);
  bool follow(PendingCall &Call, FunctionId Target);
  bool startThread(PendingCall &Call, const ExternalEffect &E);
  bool callBack(PendingCall &Call);
  std::set<FunctionId> targets(const PendingCall &Call, std::set<ExternalId> &Outside) const;
  void index();

  const Program &P;
  const Inference &Known;
  const FunctionFlow &Flow;
  Visits V;
  Contents Kept;
  InputSources Sources;
  CallEffects Effects;
  std::vector<Edge> Edges;
  std::vector<std::vector<size_t>> Outgoing, Incoming; ///< By InstanceId.
  size_t Count = 0;
};

} // namespace nvmove::plan
