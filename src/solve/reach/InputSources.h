// Where the input is.
//
// The input is the open nearest to the load function; what else is opened further away
// (configuration, logs, devices) is not, and when the nearest is more than OpenNear calls away,
// what the load function is given is the input: a document that is in memory already. Functions
// between the load and the open lead to it, and so do those that read through a global variable
// which is the buffer, the cursor or the handle.
#pragma once

#include "solve/reach/Contents.h"

#include <vector>

namespace nvmove::solve {

class InputSources {
public:
  InputSources(const Program &P, const Inference &Known, const FunctionFlow &Flow, Visits &V,
               const Contents &Kept);

  /// Looks for the open and for parameters that are read from, once the load functions are entered.
  void find();
  /// Nothing was read: then what the load functions are given is the input.
  void guess() { seedParameters(/*Guess=*/true); }
  /// Looks for readers of global variables by what these keep now.
  void findGlobalReaders();

  /// True when what \p Call opens is the input.
  bool isTheInput(const PendingCall &Call) const;
  /// True when \p Id opens the input or reads it, itself or below.
  bool leadsToInput(FunctionId Id) const { return OnTheWay[Id] || ReadsInput[Id]; }
  /// True when \p Id is at the input, however far its caller is. A cursor says so only of functions
  /// that are given \p Nothing.
  bool isAtInput(FunctionId Id, bool Nothing) const {
    return OnTheWay[Id] || ReadsHandle[Id] || (Nothing && ReadsInput[Id]);
  }
  const std::vector<GlobalId> &globalsUsed(FunctionId Id) const { return GlobalsUsed[Id]; }

private:
  bool looksLikeStream(const Shape &Parameter) const;
  bool seedParameters(bool Guess);
  bool opens(FunctionId Id) const;
  void measure();
  void findWay();
  void spreadToCallers(std::vector<FunctionId> Level, std::vector<bool> &Marked) const;

  const Program &P;
  const Inference &Known;
  const FunctionFlow &Flow;
  Visits &V;
  const Contents &Kept;
  std::vector<bool> OnTheWay; ///< By FunctionId: between a load function and the nearest open.
  std::vector<bool> ReadsInput, ReadsHandle; ///< By FunctionId: from a global, itself or below.
  std::vector<unsigned> Distance; ///< By FunctionId: direct calls from the load functions.
  unsigned NearestOpen = ~0u;     ///< Distance of the first function that opens something.
  std::vector<std::vector<GlobalId>> GlobalsUsed;
  bool InputGiven = false; ///< A parameter of a load function is the input: no open is.
};

} // namespace nvmove::solve
