// What a call does whose callee has no body to visit, or need not be visited.
//
// An effect that is known, by the table of Externals.def or by Inference, is applied as it stands
// there (CallEffects.cpp). A library function that nobody described is treated by the general rule
// at the end of that table: outputs, containers, callbacks (Libraries.cpp).
#pragma once

#include "solve/reach/InputSources.h"

#include <initializer_list>
#include <set>

namespace nvmove::solve {

class CallEffects {
public:
  CallEffects(const Program &P, const Inference &Known, Visits &V, const Contents &Kept,
              const InputSources &Sources)
      : P(P), Known(Known), V(V), Graph(V.graph()), Kept(Kept), Sources(Sources) {}

  /// These return true when something is new: another round is worth its while.
  bool apply(PendingCall &Call, const ExternalEffect &E);
  bool applyGeneralRule(PendingCall &Call);
  bool fillParameters(PendingCall &Call, FunctionId Target);

  /// Some call opened the input.
  bool opened() const { return Opened; }

private:
  bool start(PendingCall &Call, const ExternalEffect &E);
  bool exchange(PendingCall &Call, const ExternalEffect &E);
  bool open(PendingCall &Call, const ExternalEffect &E);
  bool read(PendingCall &Call, const ExternalEffect &E);
  bool provide(PendingCall &Call, const ExternalEffect &E, bool Grown);
  bool givesSizeOf(const PendingCall &Call, RecordKey Record) const;
  bool received(const PendingCall &Call, int Number) const;
  void storeBehind(PendingCall &Call, int Number, LocationId What);
  void fillBehind(PendingCall &Call, int From, int To);
  bool allocate(PendingCall &Call, ObjectKind Kind, std::initializer_list<int> Sizes, NodeId To);
  void addPoolSizes(const PendingCall &Call, std::set<RecordKey> &Given) const;
  void typeAtBirth(PendingCall &Call, ObjectId Made, std::initializer_list<int> Sizes);
  void noteFreed(const PendingCall &Call, const ExternalEffect &E);
  void copyMemory(PendingCall &Call, int To, int From);

  // Libraries.cpp
  llvm::StringRef signature(const PendingCall &Call) const;
  void containerRule(PendingCall &Call);
  void callBack(PendingCall &Call);
  bool isLibrarys(ObjectId Id) const;
  void keptCallbacks(ObjectId Id, bool Nested, std::set<FunctionId> &Found) const;
  bool isForeign(const Shape &Type) const;
  bool pointsToGeneric(NodeId N) const;

  const Program &P;
  const Inference &Known;
  Visits &V;
  PointsTo &Graph;
  const Contents &Kept;
  const InputSources &Sources;
  bool Opened = false;
  NodeId Registered = None; ///< Points to what the system keeps.
};

} // namespace nvmove::solve
