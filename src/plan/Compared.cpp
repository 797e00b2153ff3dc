// See Compared.h.
#include "plan/Compared.h"

#include "observe/Fates.h"
#include "plan/Chains.h"
#include "plan/Observed.h"
#include "support/Failed.h"

#include "solve/answer/Definitions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nvmove::plan {

using support::failed;
namespace {

/// Of all chains that made objects of one type.
struct Sum {
  uint64_t Made = 0, Linked = 0; ///< Linked: at one time, at least.
  bool OfData = false, Loaded = false;
  bool Perhaps = false;             ///< The run made some object of this type or of another one.
  std::set<std::string> From;       ///< Variables that the links came from.
  std::set<std::string> Places;     ///< Where the calls that allocated are.
  std::optional<SourcePlace> First; ///< One of them.
};

class Comparison {
public:
  Comparison(const Program &P, const Everything &All, const observe::Observation &Seen,
             const std::vector<std::string> &Load)
      : P(P), All(All), Seen(Seen), Walk(P), Load(observedNames(Load)),
        Fates(observe::judge(Seen, this->Load)) {
    for (size_t I = 0; I < Seen.Stacks.size(); ++I)
      if (Seen.Stacks[I].Made)
        add(I);
  }

  /// Whether a function of the run is one of the program's.
  bool isOfProgram() const { return Matched || !Unmatched; }

  void tell(ScanResult &Into) const {
    if (Unmatched)
      Into.Notes.push_back("the observed run allocated at " + std::to_string(Unmatched) + " of " +
                           std::to_string(Matched + Unmatched) +
                           " places in functions that these sources do not have");
    if (!Fates.LoadRan) {
      Into.Notes.push_back("the observed run made nothing in " + llvm::join(Load, ", ") +
                           ": it says nothing about the types");
      return;
    }
    std::set<Named> Reported;
    for (PersistentType &Type : Into.Types) {
      Reported.insert(nameOf(Type));
      auto At = Types.find(nameOf(Type));
      judge(Type, At == Types.end() ? Sum() : At->second.second);
    }
    for (const auto &[Name, Each] : Types)
      if (Each.second.OfData && !Reported.count(Name))
        Into.Types.push_back(onlySeen(Each.first, Each.second, !Into.Save.empty()));
    llvm::sort(Into.Types, [&](const PersistentType &A, const PersistentType &B) {
      return nameOf(A) < nameOf(B);
    });
  }

private:
  using Named = std::tuple<std::string, std::string, unsigned>;

  static Named nameOf(const PersistentType &Type) {
    return {Type.Name, Type.Definition.File, Type.Definition.Line};
  }

  void add(size_t At) {
    const observe::Stack &S = Seen.Stacks[At];
    const observe::Fate &Fate = Fates.Of[At];
    std::set<RecordKey> Made;
    std::vector<observe::Call> Calls = Chains::callsOf(S);
    if (Calls.empty())
      return;
    // What a library allocates for itself is of none of the program's types.
    const bool IsOwn = !S.Calls[0].File.empty();
    if (IsOwn)
      ++(Walk.functionOf(Calls[0]) != None ? Matched : Unmatched);
    const MadeObjects Found = Walk.madeBy(All, Calls);
    SawData |= Fate.OfData;
    Untold += IsOwn && !Found.CallFound;
    for (ObjectId Id : Found.Objects)
      for (RecordKey Key : All.graph().object(Id).Types)
        Made.insert(P.named(Key));
    for (RecordKey Key : Made) {
      const RecordInfo &Record = P.record(Key);
      if (!Record.Complete || Record.System || !P.standsAlone(Key))
        continue;
      Sum &To = Types.try_emplace(nameOf(P.describe(Key)), Key, Sum()).first->second.second;
      if (Found.FromSeveral) {
        To.Perhaps = true;
        continue;
      }
      To.Made += S.Made;
      if (Fate.OfData)
        To.Linked = std::max<uint64_t>(To.Linked, S.LinkedMost);
      To.OfData |= Fate.OfData;
      To.Loaded |= Fate.Loaded;
      if (Fate.OfData)
        To.First = SourcePlace{Calls[0].File, Calls[0].Line, 0};
      for (const auto &[Word, Links] : Fate.From)
        if (Fate.OfData && Word.Kind == observe::Link::Holder::Variable)
          To.From.insert(Word.Name);
    }
  }

  static std::string counts(const Sum &S) {
    return "the run made " + std::to_string(S.Made) + ", and at one time at least " +
           std::to_string(S.Linked) + " of them were data";
  }

  void judge(PersistentType &Type, const Sum &S) const {
    RunSays Says = RunSays::Proved;
    std::string Why = S.Made ? "the load of the run made none" : "the run made none";
    if (S.OfData) {
      Says = RunSays::Both;
      Why = counts(S);
      Type.Sureness = Type.Sureness == Confidence::Low ? Confidence::Medium : Confidence::High;
    } else if (S.Perhaps || Untold) {
      Why =
          "the run does not tell: it allocated where the source may make this type or another one";
    } else if (S.Loaded && !SawData) {
      Why = "the run does not tell: whenever it was looked at, it had no data";
    } else if (S.Loaded) {
      Says = RunSays::Contradicted;
      Why = "the run made " + std::to_string(S.Made) +
            ", and no static variable that led to what the load had made led to one of them";
      Type.Sureness = Confidence::Low;
    }
    Type.Run = SeenInRun{Says, S.Made, S.Linked, std::move(Why)};
  }

  /// \p Saves: the scan has left out what no save function reads.
  PersistentType onlySeen(RecordKey Key, const Sum &S, bool Saves) const {
    PersistentType Made = P.describe(Key);
    Made.Sureness = Confidence::Medium;
    Made.Why =
        Saves ? "only the run shows it, or no save function reads it" : "only the run shows it";
    Made.Run = SeenInRun{RunSays::Observed, S.Made, S.Linked, counts(S)};
    if (S.First)
      Made.Evidence.push_back(
          {EvidenceStep::Kind::Allocation, *S.First, "the run allocated it here"});
    if (!S.From.empty())
      Made.Evidence.push_back(
          {EvidenceStep::Kind::Root, {}, "linked from " + listed(S.From) + " in the run"});
    return Made;
  }

  const Program &P;
  const Everything &All;
  const observe::Observation &Seen;
  const Chains Walk;
  const std::vector<std::string> Load;
  const observe::Fates Fates;
  std::map<Named, std::pair<RecordKey, Sum>> Types;
  unsigned Matched = 0,
           Unmatched = 0; ///< Chains that begin in functions of the program, and others.
  bool SawData = false;   ///< Some chain made data that was there at a point.
  unsigned Untold = 0;    ///< Chains whose call the source does not show.
};

} // namespace

llvm::Error compareWithRun(std::vector<facts::TranslationUnit> Units, const Options &O,
                           ScanResult &Into) {
  if (llvm::Error Changed = refuseOtherSources(*O.Seen))
    return Changed;
  sortUnits(Units);
  std::vector<std::string> Notes; // the scan has told them
  std::vector<uint32_t> Seeds;
  for (const std::vector<std::string> *Named : {&O.Load, &O.Save}) {
    auto Found = findDefinitions(Units, *Named, Notes);
    if (!Found)
      return Found.takeError();
    for (const Definition &Each : *Found)
      Seeds.push_back(Each.Unit);
  }
  Program P(std::move(Units), Seeds);
  FunctionId Main = findMain(P);
  if (Main == None)
    return failed("the sources have no main: a run is compared with a whole program");
  const Inference Known(P);
  const FunctionFlow Flow(P);
  Everything All(P, Known, Flow, O.StepsMax);
  if (!All.visit(Main)) {
    Into.Notes.push_back("the observed run was not compared: the analysis of the whole program was "
                         "stopped at its step limit (--steps-max)");
    Into.Incomplete = true;
    return llvm::Error::success();
  }
  const Comparison Compared(P, All, *O.Seen, O.Load);
  if (!Compared.isOfProgram())
    return failed(
        "the observed run is of another program: these sources have none of the functions that "
        "allocated in it");
  Compared.tell(Into);
  return llvm::Error::success();
}

} // namespace nvmove::plan
