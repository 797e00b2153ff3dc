// See Suggest.h.
#include "solve/answer/Suggest.h"

#include "solve/answer/Signs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <cmath>

namespace nvmove::solve {

namespace {

using facts::TranslationUnit;

constexpr unsigned ProgramsMax = 6; ///< Trees with more are of one program and its tests.
constexpr unsigned AnalysedMax = 20;
constexpr uint64_t StepsMax = 1'000'000; ///< Of each analysis: what it has found by then will do.

/// A function of one of the programs, with what is to be seen of it.
struct Candidate {
  Suggestion Says;
  std::string Key; ///< Its place: the same function may be in several programs.
};

double log2Of(double Number) { return std::log2(1 + Number); }

/// The programs of the tree, one behind the other, and what belongs to none of them.
template <typename Visit> void eachProgram(const std::vector<TranslationUnit> &Units, Visit Do) {
  std::vector<uint32_t> Mains, Rest;
  std::vector<bool> Known(Units.size());
  for (uint32_t I = 0; I != Units.size(); ++I)
    for (const facts::Function &Body : Units[I].Functions)
      if (Body.Symbol != None && Units[I].text(Units[I].Symbols[Body.Symbol].Name) == "main")
        Mains.push_back(I);
  llvm::sort(Mains, [&](uint32_t A, uint32_t B) {
    size_t Left = Units[A].Functions.size(), Right = Units[B].Functions.size();
    return Left != Right ? Left > Right : A < B;
  });
  if (Mains.size() > ProgramsMax)
    Mains.resize(ProgramsMax);
  auto Link = [&](llvm::ArrayRef<uint32_t> Seeds) {
    Program P(Units, Seeds);
    for (const UnitView &View : P.views())
      Known[static_cast<size_t>(View.Unit - P.units().data())] = true;
    Do(P);
  };
  for (uint32_t Main : Mains)
    if (!Known[Main])
      Link(Main);
  for (uint32_t I = 0; I != Units.size(); ++I)
    if (!Known[I])
      Rest.push_back(I);
  if (!Rest.empty())
    Link(Rest);
}

Suggestion describe(const Program &P, FunctionId Id) {
  const FunctionInfo &F = P.function(Id);
  const facts::Location &Where = F.symbol().Where;
  return {F.Name, {F.unit().text(Where.File), Where.Line, Where.Column}, 0, {}, {}};
}

std::string keyOf(const Suggestion &S) {
  return S.Where.File + ":" + std::to_string(S.Where.Line) + ":" + S.Name;
}

/// Sums up points with their reasons.
class Judgement {
public:
  explicit Judgement(Suggestion &Of) : Of(Of) {}

  void add(double Points, std::string Why = "") {
    Of.Points += Points;
    if (!Why.empty())
      Of.Reasons.push_back(std::move(Why));
  }

private:
  Suggestion &Of;
};

std::string counted(size_t Count, llvm::StringRef Noun) {
  return std::to_string(Count) + " " + Noun.str() + (Count == 1 ? "" : "s");
}

void judgeDistance(Judgement &J, unsigned Calls, llvm::StringRef What) {
  if (Calls == 0)
    J.add(3, What.str());
  else if (Calls <= 3)
    J.add(3 - 0.7 * Calls, What.str() + ", " + counted(Calls, "call") + " away");
}

void judgeName(Judgement &J, const NameSign &Sign) {
  if (Sign.Points > 0)
    J.add(Sign.Points, "its name says '" + Sign.Word.str() + "'");
  else
    J.add(Sign.Points);
  if (!Sign.Partner.empty())
    J.add(3, "'" + Sign.Partner + "' is the other way round");
}

/// What the reasons of one way are called.
struct Words {
  llvm::StringLiteral Opens, Given, Records;
};
constexpr Words LoadReasons = {"opens a file", "reads what it is given", "allocates "};
constexpr Words SaveReasons = {"opens a file for writing", "writes to what it is given",
                               "looks into "};

/// False: it neither reads nor writes, whichever is asked, or not a file.
bool judge(const Signs &All, FunctionId Id, Signs::Direction Way, Suggestion &S) {
  const Words &Say = Way == Signs::Reading ? LoadReasons : SaveReasons;
  FunctionSigns Here = All.below(Id, Way);
  bool Does = Way == Signs::Reading ? Here.Reads || Here.Maps : Here.Writes;
  bool IsNear = Here.Distance != ~0u;
  if (!Does || (!IsNear && !Here.TakesHandle))
    return false;
  Judgement J(S);
  if (IsNear)
    judgeDistance(J, Here.Distance, Say.Opens);
  else
    J.add(0.5, Say.Given.str());
  J.add(1.2 * log2Of(Here.Records),
        Here.RecordCount ? Say.Records.str() + counted(Here.RecordCount, "type") : "");
  J.add(-0.6 * log2Of(Here.Functions));
  judgeName(J, All.name(Id, Way));
  return true;
}

std::vector<Candidate> candidates(const std::vector<TranslationUnit> &Units, Signs::Direction Way) {
  std::vector<Candidate> Found;
  std::map<std::string, size_t> Place;
  eachProgram(Units, [&](const Program &P) {
    Inference Known(P);
    Signs All(P, Known);
    for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
      if (P.function(Id).Body->Symbol == None || P.function(Id).Name == "main")
        continue;
      Candidate C{describe(P, Id), ""};
      if (!judge(All, Id, Way, C.Says))
        continue;
      C.Key = keyOf(C.Says);
      auto [At, New] = Place.try_emplace(C.Key, Found.size());
      if (New)
        Found.push_back(std::move(C));
      else if (Found[At->second].Says.Points < C.Says.Points)
        Found[At->second] = std::move(C);
    }
  });
  return Found;
}

void sortByPoints(std::vector<Candidate> &Found) {
  llvm::sort(Found, [](const Candidate &A, const Candidate &B) {
    return A.Says.Points != B.Says.Points ? A.Says.Points > B.Says.Points : A.Key < B.Key;
  });
}

/// Functions of one name: each is called by its file as well; by its path, where files of one name
/// have it.
void tellApart(std::vector<Candidate> &Found, const std::vector<TranslationUnit> &Units) {
  std::map<std::string, std::set<std::string>> Files;
  for (const TranslationUnit &Unit : Units)
    for (const facts::Function &Body : Unit.Functions)
      if (Body.Symbol != None)
        Files[Unit.text(Unit.Symbols[Body.Symbol].Name)].insert(
            Unit.text(Unit.Symbols[Body.Symbol].Where.File));
  for (Candidate &C : Found) {
    const std::set<std::string> &Having = Files[C.Says.Name];
    llvm::StringRef Path = C.Says.Where.File, File = llvm::sys::path::filename(Path);
    bool Alike = llvm::count_if(Having, [&](llvm::StringRef Other) {
                   return llvm::sys::path::filename(Other) == File;
                 }) > 1;
    if (Having.size() > 1)
      C.Says.Name = ((Alike ? Path : File) + ":" + C.Says.Name).str();
  }
}

/// What the load would leave behind.
void analyse(Candidate &C, const std::vector<TranslationUnit> &Units, Options O) {
  O.Load = {C.Says.Name};
  O.Save.clear();
  O.WhyNot.clear();
  O.StepsMax = std::min(O.StepsMax, StepsMax);
  llvm::Expected<ScanResult> Result = solve(Units, O);
  if (!Result) {
    llvm::consumeError(Result.takeError());
    return;
  }
  double Weight = 0;
  size_t Doubtful = 0;
  for (const PersistentType &T : Result->Types) {
    bool Low = T.Sureness == Confidence::Low;
    Weight += Low ? 0.5 : 1;
    Doubtful += Low;
    C.Says.Types.push_back(T.Name);
  }
  Judgement J(C.Says);
  if (C.Says.Types.empty())
    return J.add(-4);
  J.add(1.5 * log2Of(Weight), "leaves behind " + counted(C.Says.Types.size(), "type") +
                                  (Doubtful == C.Says.Types.size() ? ", doubtful" : ""));
}

std::vector<Suggestion> best(std::vector<Candidate> Found, unsigned Max) {
  sortByPoints(Found);
  std::vector<Suggestion> Best;
  for (Candidate &C : Found)
    if (Best.size() < Max)
      Best.push_back(std::move(C.Says));
  return Best;
}

} // namespace

std::vector<Suggestion> suggestLoads(const std::vector<TranslationUnit> &Units, const Options &O,
                                     unsigned Max) {
  std::vector<Candidate> Found = candidates(Units, Signs::Reading);
  sortByPoints(Found);
  if (Found.size() > AnalysedMax)
    Found.resize(AnalysedMax);
  tellApart(Found, Units);
  for (Candidate &C : Found)
    analyse(C, Units, O);
  return best(std::move(Found), Max);
}

std::vector<Suggestion> suggestSaves(const std::vector<TranslationUnit> &Units, unsigned Max) {
  std::vector<Candidate> Found = candidates(Units, Signs::Writing);
  sortByPoints(Found);
  if (Found.size() > Max)
    Found.resize(Max);
  tellApart(Found, Units);
  return best(std::move(Found), Max);
}

} // namespace nvmove::solve
