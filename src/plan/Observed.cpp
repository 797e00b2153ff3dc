// From chains of calls to scopes, from words to roots: see Observed.h.
#include "plan/Observed.h"

#include "observe/Choice.h"
#include "plan/Allocations.h"
#include "plan/Assignments.h"
#include "plan/Chains.h"
#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace nvmove::plan {

using support::failed;
namespace {

using facts::Instruction;
using facts::Op;

constexpr ScopeId NoSource = 1u << 30; ///< From here on: functions whose source is not known.

class Observer {
public:
  Observer(const Program &P, const Everything &All, const Moved &What,
           const observe::Observation &Seen, const std::vector<std::string> &Named, Plan &Into)
      : P(P), All(All), What(What), Seen(Seen), Into(Into), Assigned(P), Say(P), Walk(P) {
    Load = observedNames(Named);
    Found = observe::judge(Seen, Load);
  }

  llvm::Error run() {
    if (llvm::Error Wrong = refuseOtherSources(Seen))
      return Wrong;
    if (!Found.LoadRan) {
      Into.Notes.push_back("the observed run made nothing in " + llvm::join(Load, ", ") +
                           ": it says nothing about the data");
      return llvm::Error::success();
    }
    if (Into.Incomplete)
      leaveGuesses();
    std::set<unsigned> Apart;
    for (unsigned I = 0; I < Seen.Stacks.size(); ++I)
      if (Found.Of[I].OfData && stays(Walk.callsOf(Seen.Stacks[I])))
        Apart.insert(I);
    Found = observe::judge(Seen, Load, Apart);
    addAllocators();
    addScopes();
    addRoots();
    return llvm::Error::success();
  }

private:
  /// An analysis that was stopped has mixed up what it did not come to tell apart.
  void leaveGuesses() {
    for (std::vector<Line> *Each :
         {&Into.Allocators, &Into.Persistent, &Into.Volatile, &Into.Beside})
      Each->clear();
    Into.Roots.clear();
    llvm::erase_if(Into.Questions, [](const Question &Q) { return isAnswered(Q.About); });
  }

  static bool isAnswered(Key About) {
    return About == Key::Allocators || About == Key::Persistent || About == Key::Volatile ||
           About == Key::Beside || About == Key::Roots;
  }

  /// Whether a function only hands on what its caller says: one argument is its own parameter.
  bool passesOn(FunctionId Id, const Instruction &Call) const {
    const FunctionInfo &F = P.function(Id);
    for (unsigned I = 0; I != Call.ArgumentCount; ++I)
      if (facts::Register Each = F.Body->Arguments[Call.FirstArgument + I];
          Each < F.Body->ParameterCount && F.parameter(Each).Pointers == 0)
        return handsOn(P, Id, Call);
    return false;
  }

  /// How many calls, from malloc on, are those of allocators: they make what their callers ask for.
  size_t allocatorsIn(const std::vector<observe::Call> &Calls) const {
    size_t Count = 0;
    for (; Count + 1 < Calls.size(); ++Count) {
      FunctionId Id = Walk.functionOf(Calls[Count]);
      const Instruction *Call =
          Id == None ? nullptr
                     : Walk.callAt(Id, Calls[Count], Count ? Calls[Count - 1].Function : "");
      if (!Call || !(Count ? passesOn(Id, *Call) : handsOn(P, Id, *Call)))
        break;
    }
    return Count;
  }

  void addAllocators() {
    auto Add = [&](std::string Name, const char *Why, SourcePlace Where) {
      if (llvm::none_of(Into.Allocators, [&](const Line &L) { return L.Name == Name; }))
        Into.Allocators.push_back({std::move(Name), Why, std::move(Where)});
    };
    for (unsigned I = 0; I < Seen.Stacks.size(); ++I) {
      if (!Found.Of[I].OfData)
        continue;
      std::vector<observe::Call> Calls = Walk.callsOf(Seen.Stacks[I]);
      size_t Own = allocatorsIn(Calls);
      for (size_t At = 0; At < Own; ++At)
        Add(Say.function(Walk.functionOf(Calls[At])), "observed: its callers say what it allocates",
            Say.definition(Walk.functionOf(Calls[At])));
      FunctionId First = Own || Calls.empty() ? None : Walk.functionOf(Calls[0]);
      const Instruction *Call = First == None ? nullptr : Walk.callAt(First, Calls[0], "");
      if (Call)
        Add(P.externals()[P.entity(P.function(First), Call->A).Id].Name, "observed",
            {Calls[0].File, Calls[0].Line, 0});
    }
    // What a wrapper has allocated, its neighbour makes larger.
    for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
      if (!Into.Allocators.empty() && P.function(Id).Body->Symbol != None)
        for (const Instruction &I : P.function(Id).Body->Body)
          if (isWrapped(Id, I))
            Add(Say.function(Id), "gives what the C library allocates", Say.definition(Id));
  }

  bool isWrapped(FunctionId Id, const Instruction &I) const {
    if (I.Code != Op::Call || I.A == None)
      return false;
    Entity Of = P.entity(P.function(Id), I.A);
    return Of.What == Entity::External && isPools(P.externals()[Of.Id].Name) && handsOn(P, Id, I);
  }

  /// True where the source says that what the chain makes has to stay outside: it is of a type that is
  /// no data, whatever links to it. The field that does is a question of its own.
  bool stays(const std::vector<observe::Call> &Calls) const {
    bool Some = false;
    for (ObjectId Id :
         Into.Incomplete ? std::vector<ObjectId>() : Walk.madeBy(All, Calls).Objects) {
      if (!What.stays(Id))
        return false;
      Some = true;
    }
    return Some;
  }

  observe::Chain chainOf(unsigned At) {
    std::vector<observe::Call> Calls = Walk.callsOf(Seen.Stacks[At]);
    observe::Chain Made;
    const observe::Stack &S = Seen.Stacks[At];
    Made.Where = Found.Of[At].OfData      ? observe::Wanted::InPool
                 : S.FreedEarly == S.Made ? observe::Wanted::Anywhere
                                          : observe::Wanted::Outside;
    const size_t Allocators = allocatorsIn(Calls);
    for (size_t I = 0; I < Calls.size(); ++I) {
      FunctionId Id = Walk.functionOf(Calls[I]);
      if (Id == None) {
        Made.Scopes.push_back(withoutSource(Calls[I].Function));
        continue;
      }
      const Instruction *Call = Walk.callAt(Id, Calls[I], I ? Calls[I - 1].Function : "");
      if (ScopeId Place = Call ? Assigned.of(Call) : None; Place != None) {
        Made.Scopes.push_back(Place);
        Unlike.insert(Place);
      }
      if (P.function(Id).Name == "main")
        break; // all of the program is no scope
      Made.Scopes.push_back(Id);
      if (I < Allocators)
        Unlike.insert(Id);
    }
    return Made;
  }

  ScopeId withoutSource(const std::string &Name) {
    auto [At, New] = Strangers.try_emplace(Name, NoSource + Strangers.size());
    if (New)
      StrangerNames.push_back(Name);
    return At->second;
  }

  std::string nameOf(ScopeId Id) const {
    if (Id >= NoSource)
      return StrangerNames[Id - NoSource];
    return Assigned.isFunction(Id) ? Say.function(Id) : Assigned.name(Id);
  }

  void addScopes() {
    std::vector<observe::Chain> Chains;
    std::set<std::string> Met;
    for (unsigned I = 0; I < Seen.Stacks.size(); ++I) {
      Chains.push_back(Seen.Stacks[I].Made ? chainOf(I) : observe::Chain());
      for (ScopeId Each : Chains.back().Scopes)
        Met.insert(nameOf(Each));
    }
    auto IsMet = [&](const Line &L) { return Met.count(L.Name) != 0; };
    llvm::erase_if(Into.Persistent, IsMet);
    llvm::erase_if(Into.Volatile, IsMet);
    llvm::erase_if(Into.Beside, IsMet);
    llvm::erase_if(Into.Questions, [&](const Question &Q) { return Met.count(Q.Subject) != 0; });
    observe::Choice Chosen = observe::choose(Chains, Unlike);
    for (const auto &[Id, Kind] : Chosen.Scopes)
      (Kind == observe::ScopeKind::Persistent ? Into.Persistent : Into.Volatile)
          .push_back({nameOf(Id), whyOf(Chosen.Rules[Id]), {}});
    for (size_t Each : Chosen.Misplaced)
      ask(Each, Chains[Each].Where == observe::Wanted::InPool);
  }

  std::string whyOf(const std::vector<size_t> &Chains) const {
    uint64_t Made = 0, Linked = 0;
    for (size_t Each : Chains) {
      Made += Seen.Stacks[Each].Made;
      Linked += Found.Of[Each].OfData ? Seen.Stacks[Each].LinkedMost : 0;
    }
    return "observed: of " + std::to_string(Made) + " blocks up to " + std::to_string(Linked) +
           " were data at a time";
  }

  void ask(size_t At, bool IsData) {
    std::vector<observe::Call> Calls = Walk.callsOf(Seen.Stacks[At]);
    size_t Own = allocatorsIn(Calls);
    if (Own >= Calls.size())
      return;
    const observe::Call &C = Calls[Own];
    std::string What = "what " + C.Function + " allocates (" +
                       llvm::sys::path::filename(C.File).str() + ":" + std::to_string(C.Line) + ")";
    Question Q = IsData ? Question{Key::Persistent,
                                   What + " was linked to the data, and lies outside the pool: its "
                                          "function makes other things, too",
                                   {"let a function of its own make it, and add that here",
                                    "nothing, if it is made again at each start"}}
                        : Question{Key::Volatile,
                                   What + " was not linked to the data, and goes to the pool",
                                   {"nothing, if it holds no address of what stays outside",
                                    "let a function of its own make it, and add that here"}};
    if (llvm::none_of(Into.Questions, [&](const Question &Each) { return Each.Text == Q.Text; }))
      Into.Questions.push_back(std::move(Q));
  }

  static std::string withoutElements(const std::string &Name) {
    return Name.substr(0, Name.find('['));
  }

  void addRoots() {
    std::set<std::string> Roots, Locals;
    for (const observe::Word &W : Found.DataWords)
      (W.Kind == observe::Link::Holder::Variable ? Roots : Locals).insert(withoutElements(W.Name));
    std::string Loads = llvm::join(Load, ", ");
    for (const std::string &Name : Roots) {
      bool Has = llvm::any_of(Into.Roots, [&](const RootLine &R) {
        return R.Of.Name == Name || llvm::StringRef(Name).starts_with(R.Of.Name + ".");
      });
      if (!Has)
        Into.Roots.push_back({{Name, "observed: led to what " + Loads + " had made", {}}, false});
    }
    for (const std::string &Name : Locals)
      if (Roots.empty())
        Into.Questions.push_back({Key::Roots,
                                  "a local variable of " + Name + " led to what " + Loads +
                                      " had made, and no global one did",
                                  {"make it a global variable, and observe again"}});
    if (!Roots.empty())
      llvm::erase_if(Into.Questions, [](const Question &Q) {
        return Q.About == Key::Roots && Q.Subject == "roots";
      });
  }

  const Program &P;
  const Everything &All;
  const Moved &What;
  const observe::Observation &Seen;
  Plan &Into;
  const Assignments Assigned;
  const Names Say;
  const Chains Walk;
  std::vector<std::string> Load; ///< Names of functions.
  observe::Fates Found;
  std::map<std::string, ScopeId> Strangers;
  std::set<unsigned> Unlike; ///< Places, and allocators.
  std::vector<std::string> StrangerNames;
};

} // namespace

llvm::Error refuseOtherSources(const observe::Observation &Seen) {
  for (const auto &[File, Md5] : Seen.Files) {
    auto Text = llvm::MemoryBuffer::getFile(File);
    if (!Text || Md5.empty())
      continue;
    llvm::MD5 Hash;
    Hash.update((*Text)->getBuffer());
    llvm::MD5::MD5Result Result = Hash.final();
    if (Result.digest().str() != Md5)
      return failed(File + " has changed since the run that was observed: observe it again");
  }
  return llvm::Error::success();
}

llvm::Error addObserved(const Program &P, const Everything &All, const Moved &What,
                        const observe::Observation &Seen, const std::vector<std::string> &Load,
                        Plan &Into) {
  return Observer(P, All, What, Seen, Load, Into).run();
}

} // namespace nvmove::plan
