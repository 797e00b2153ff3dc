// The visits of functions, and what their bodies say to the points-to engine.
//
// An Instance is one visit of a function: functions that take or return generic pointers (container
// libraries, constructors, hooks embedded in records) are visited anew from each call site, up to
// CloneDepthMax deep, so that what one owner keeps in a container is not seen in all of them.
//
// A visit makes a node for each register and tells the engine what each instruction does; error
// exits are left out. Calls are only written down: CallSelection says which of them lead to
// another visit.
#pragma once

#include "solve/pointsto/PointsTo.h"
#include "solve/summary/FunctionFlow.h"
#include "solve/summary/Inference.h"

#include <deque>
#include <map>
#include <set>
#include <vector>

namespace nvmove::solve {

struct Instance {
  FunctionId Function = None;
  NodeId First = None; ///< Node of register 0; the result's node comes after the last register.
  NodeId Result = None;
  Site Via; ///< The call that led here first; At is null for a load function.
  unsigned Contactless = 0;
  unsigned CloneDepth = 0;
  unsigned Removed = 0; ///< Calls since the input was handed over; contactless ones count twice,
                        ///< but for constructors.
  unsigned Entered = 0; ///< Removed when it was first visited: how far its own memory is.
  std::map<facts::SymbolId, ObjectId> Locals;
};

/// A call in a visited function, and what it has led to so far.
struct PendingCall {
  InstanceId In;
  const facts::Instruction *Call;
  std::set<FunctionId> Followed;
  ObjectId Made = None;  ///< Allocations: the object.
  size_t Seen = 0;       ///< Size of the argument sets when last considered.
  bool Resolved = false; ///< Had any target at all.
};

/// Which functions are visited anew from each call site.
enum class Cloning {
  Generic, ///< Those that take or return generic pointers, and constructors.
  Makers, ///< Also all that give a pointer and may allocate: "char *copy_of(const char *)"; and those
  ///< that take a container: a small record with a generic pointer, or with a pointer to one.
};

class Visits {
public:
  Visits(const Program &P, const Inference &Known, const FunctionFlow &Flow, uint64_t StepsMax,
         Cloning Wanted = Cloning::Generic);

  /// Static initialisers ran before anything else: they are part of every zone.
  void enterInitialisers();
  /// Visits a load function; what it is given is memory that is older than the load.
  void enterLoad(FunctionId Id);
  /// The visit of \p Id that call \p Via leads to, a new one if need be. \p Removed: its distance
  /// from the input by this way.
  InstanceId enter(FunctionId Id, Site Via, bool Contact, unsigned Removed);
  /// Hands over the arguments of \p Call to \p Callee, and its result back.
  void link(const PendingCall &Call, InstanceId Callee);

  PointsTo &graph() { return Graph; }
  const PointsTo &graph() const { return Graph; }
  const Instance &instance(InstanceId Id) const { return Instances[Id]; }
  const FunctionInfo &functionOf(InstanceId In) const { return P.function(Instances[In].Function); }
  const std::vector<InstanceId> &loads() const { return Loads; }
  std::set<FunctionId> functions() const; ///< All that were visited, but for initialisers.
  std::deque<PendingCall> &calls() { return Calls; }
  const std::deque<PendingCall> &calls() const { return Calls; }
  std::vector<Site> unresolved() const; ///< Calls without a target.

  /// None for registers that hold nothing: none at all, and the null pointer.
  NodeId node(InstanceId In, facts::Register R) const;
  facts::Register argument(const PendingCall &Call, int Number) const;
  NodeId argumentNode(const PendingCall &Call, int Number) const;
  NodeId resultNode(const PendingCall &Call) const;

private:
  bool asksForSize(Site Via) const;
  bool isGeneric(const FunctionInfo &F) const;
  bool isCloned(FunctionId Id, Site Via) const;
  void findContainers();
  bool takesContainer(const FunctionInfo &F) const;
  void translate(InstanceId In);
  void instruction(InstanceId In, const facts::Instruction &I);
  void load(InstanceId In, const facts::Instruction &I);
  void addressOf(InstanceId In, const facts::Instruction &I);

  const Program &P;
  const Inference &Known;
  const FunctionFlow &Flow;
  const Cloning Wanted;
  PointsTo Graph;
  std::vector<Instance> Instances;
  std::map<std::tuple<FunctionId, InstanceId, const facts::Instruction *>, InstanceId> Entered;
  std::map<FunctionId, unsigned> Clones;
  std::deque<PendingCall> Calls; ///< Stays where it is while more come.
  std::vector<InstanceId> Loads;
  std::set<RecordKey> Embedded; ///< Records that lie in others by value: list hooks, headers.
  std::set<RecordKey> Containers;
};

} // namespace nvmove::solve
