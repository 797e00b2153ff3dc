// One function on the points-to engine: what its values point to, in words.
#pragma once

#include "FactsText.h"

#include "solve/reach/Visits.h"

namespace nvmove {

/// Visits f(). Calls in it do what the name of the callee says:
///
///   new()              gives memory on the heap
///   new_node()         the same, of a known type; new_head_item(): of several
///   guess_node()       the same, typed by the variable that took it
///   text()             the same, of characters
///   map()              gives a mapped file
///   input(), handle()  give these
///   built(p)           gives what p holds and was built
///   fill(p)            has input read into what p points to
///   copy(p, q)         copies objects of unknown size
///   copy_bytes(p, q)   copies characters
///
/// Globals whose name begins with "emptied" were found empty by the load, and are left so.
class PointsToRun : public FactsText {
public:
  explicit PointsToRun(llvm::StringRef Text, uint64_t StepsMax = 10'000);

  /// What register \p Name of f() holds, sorted. Memory that a call gave is called by the register
  /// that took it, memory that is older than the load "old" and its type. "+8": behind that many
  /// bytes, "+?": anywhere.
  std::string of(llvm::StringRef Name) const { return of(node(Name)); }
  std::string of(solve::NodeId N) const;
  solve::NodeId node(llvm::StringRef Name) const;
  /// The only thing that register \p Name of f() holds.
  solve::Location only(llvm::StringRef Name) const;
  solve::PointsTo &graph() { return V.graph(); }
  bool done() const { return Done; }

private:
  void make(const solve::PendingCall &Call);
  void fill(const solve::PendingCall &Call);
  std::string calleeOf(const solve::PendingCall &Call) const;
  std::string textOf(solve::Location What) const;
  std::string objectText(solve::ObjectId Id) const;
  std::string typesOf(const solve::Object &What) const;

  solve::Inference Known;
  solve::FunctionFlow Flow;
  solve::Visits V;
  std::map<solve::ObjectId, std::string> Made; ///< By calls.
  bool Done = false;
};

} // namespace nvmove
