// See Loads.h.
#include "plan/Loads.h"

namespace nvmove::plan {

namespace {

using facts::Instruction;
using facts::Op;

/// What a load function gives.
struct Results {
  bool Sure =
      false; ///< All ways out give one constant; of several nobody knows which one means success.
  int64_t Likely = 0;
};

/// The last one is the likely one, unless it is below 0 and others are not.
Results resultsOf(const FunctionInfo &F) {
  Results Found;
  std::set<int64_t> Constants;
  bool Others = false;
  for (const Instruction &I : F.Body->Body)
    if (I.Code == Op::Return && I.Implicit) {
      Constants.insert(I.Delta);
      Found.Likely = I.Delta;
    } else if (I.Code == Op::Return) {
      Others = true;
    }
  Found.Sure = Constants.size() == 1 && !Others;
  if (Others || (Found.Likely < 0 && *Constants.rbegin() >= 0))
    Found.Likely = Constants.count(0) || Constants.empty() || Others ? 0 : *Constants.rbegin();
  return Found;
}

void askResult(const FunctionInfo &F, LoadLine &Line, Plan &Into) {
  Results Gives = resultsOf(F);
  bool Nothing = F.result().What == Core::Void && !F.result().Pointers;
  if (F.result().Pointers) {
    Line.Attached.reset();
    Into.Questions.push_back(
        {Key::Load,
         Line.Of.Name + " returns a pointer; with a pool that has the data it returns null",
         {"let a function around the call store the result in a global variable, and name that "
          "function",
          "nothing, if the caller takes the data from a root"}});
  } else if (!Nothing) {
    Line.Attached = Gives.Likely;
    if (!Gives.Sure)
      Into.Questions.push_back(
          {Key::Load,
           "what does " + Line.Of.Name + " return when all went well?",
           {std::to_string(Gives.Likely) + ", as here", "another number, after 'attached'"}});
  }
}

/// A load that some starts do not call, or that is called again.
void askCalls(const Program &P, const Inference &Known, const Names &Say, FunctionId Id,
              Plan &Into) {
  std::string Name = Say.function(Id);
  const std::vector<CallSite> &Callers = Known.callers(Id);
  if (Callers.size() > 1) {
    std::set<std::string> Places;
    for (const CallSite &Each : Callers)
      Places.insert(shown(Say.place(P.function(Each.Caller), Each.Call->Where)));
    Into.Questions.push_back(
        {Key::Load,
         Name + " is called at " + listed(Places) +
             "; where the pool has the data only the first call is left out, and another one loads "
             "again",
         {"nothing, if the start calls it once, and another call is meant to load",
          "a function around the call of the start: name that one"}});
  } else if (Callers.size() == 1 && Callers.front().Call->Region != 0) {
    Into.Questions.push_back(
        {Key::Load,
         Name + " is called under a condition (" +
             shown(Say.place(P.function(Callers.front().Caller), Callers.front().Call->Where)) +
             "); a start that does not call it keeps nothing",
         {"nothing, if each start calls it",
          "put the condition and the call into a function of its own, and name that one"}});
  }
}

} // namespace

void describeLoads(const Program &P, const Inference &Known, const Everything &All,
                   llvm::ArrayRef<FunctionId> Load, Plan &Into) {
  const Names Say(P);
  for (FunctionId Id : Load) {
    LoadLine Line{{Say.function(Id), "", Say.definition(Id)}, std::nullopt};
    askResult(P.function(Id), Line, Into);
    askCalls(P, Known, Say, Id, Into);
    if (All.extent({Id}).empty())
      Into.Questions.push_back({Key::Load,
                                "nothing that main leads to calls " + Line.Of.Name,
                                {"name the function that the program calls"}});
    Into.Loads.push_back(std::move(Line));
  }
  if (Load.size() > 1)
    Into.Questions.push_back({Key::Load,
                              "where the pool has the data the first call of one of these is left "
                              "out, and the others load again",
                              {"put their calls into one function, and name that one",
                               "nothing, if each start calls only one of them"}});
}

} // namespace nvmove::plan
