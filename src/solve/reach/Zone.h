// The visited zone: the part of the program that the load runs through with something in its hands.
//
// Starting from the load functions, the points-to engine and the visiting take turns until neither
// has anything new. A room of classes, each of which knows only those above it:
//
//   Visits         instances of functions, and what their bodies say to the points-to engine
//   Contents       what objects keep of the input, and what a call hands over of it
//   InputSources   where the input is: the nearest open, parameters, global variables
//   CallEffects    what a call does whose callee is not visited
//   CallSelection  which calls are followed
#pragma once

#include "solve/reach/CallSelection.h"

#include <string>
#include <vector>

namespace nvmove::solve {

class Zone {
public:
  Zone(const Program &P, const Inference &Known, const FunctionFlow &Flow, uint64_t StepsMax);

  /// Visits everything the functions \p Load reach with the input in hand.
  void visit(llvm::ArrayRef<FunctionId> Load);

  const Visits &visits() const { return V; }
  const Contents &contents() const { return Kept; }
  const std::vector<std::string> &notes() const { return Notes; }
  /// The analysis was stopped before it was done.
  bool stopped() const { return Stopped; }

private:
  void rounds();

  const Program &P;
  const Inference &Known;
  const FunctionFlow &Flow;
  Visits V;
  Contents Kept;
  InputSources Sources;
  CallEffects Effects;
  CallSelection Selection;
  std::vector<std::string> Notes;
  bool Stopped = false;
};

} // namespace nvmove::solve
