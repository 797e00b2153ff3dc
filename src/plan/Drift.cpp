// See Drift.h.
#include "plan/Drift.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

namespace {

using Entries = std::vector<port::Entry>;

class Drift {
public:
  Drift(const Program &P, const Everything &All, const Moved &What, const Plan &Fresh,
        const port::PortFile &File)
      : P(P), All(All), Graph(All.graph()), What(What), Fresh(Fresh), File(File), Say(P),
        Assigned(P) {}

  std::vector<DriftLine> run();

private:
  bool means(const port::Entry &E, FunctionId Id) const;
  void addScopes(const Entries &Of, Scope Kind, std::map<ScopeId, Scope> &Into) const;
  void comparePlaces();
  void compareAllocators();
  void compareRoots();
  void compareFields();
  void compareFunctions();
  void compareLoads();

  const Program &P;
  const Everything &All;
  const PointsTo &Graph;
  const Moved &What;
  const Plan &Fresh;
  const port::PortFile &File;
  const Names Say;
  const Assignments Assigned;
  std::vector<DriftLine> Found;
};

/// An entry for one source names it before the colon.
bool Drift::means(const port::Entry &E, FunctionId Id) const {
  llvm::StringRef Written = E.Written;
  auto [Source, Name] = Written.rsplit(':');
  if (Name.empty())
    return Written == P.function(Id).Name;
  return Name == P.function(Id).Name && port::sameSource(Say.definition(Id).File, Source);
}

void Drift::addScopes(const Entries &Of, Scope Kind, std::map<ScopeId, Scope> &Into) const {
  for (const port::Entry &E : Of) {
    for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
      if (P.function(Id).Body->Symbol != None && means(E, Id))
        Into[Id] = Kind;
    if (ScopeId Place = Assigned.find(E.Written); Place != None)
      Into[Place] = Kind;
  }
}

/// Where each allocation goes by the file's own scopes.
void Drift::comparePlaces() {
  std::map<ScopeId, Scope> Scopes;
  addScopes(File.Persistent, Scope::Persistent, Scopes);
  addScopes(File.Volatile, Scope::Volatile, Scopes);
  addScopes(File.Beside, Scope::Beside, Scopes);
  Placement Now(All, What, Assigned, Scopes);
  std::map<std::string, DriftLine> Told; // One for each place in the source.
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id) {
    const Object &Made = Graph.object(Id);
    if (Made.Kind != ObjectKind::Heap || !Made.Made.At || Made.Types.empty())
      continue;
    Places Where = Now.of(Made);
    std::string Type = P.displayName(*Made.Types.begin()), At = shown(What.madeAt(Id));
    if (What.moves(Id) && (Where & InDram))
      Told.try_emplace(At,
                       DriftLine{DriftKind::Outside,
                                 {Type,
                                  "is allocated here in DRAM, and linked to the data: no scope is "
                                  "around it in all calls",
                                  What.madeAt(Id)}});
    else if (What.stays(Id) && Where == InPool)
      Told.try_emplace(At,
                       DriftLine{DriftKind::Inside,
                                 {Type, "is allocated here in the pool, and belongs to the process",
                                  What.madeAt(Id)}});
  }
  for (auto &[At, Each] : Told)
    Found.push_back(std::move(Each));
}

void Drift::compareAllocators() {
  for (const Line &Each : Fresh.Allocators)
    if (llvm::none_of(File.Allocators,
                      [&](const port::Entry &E) { return E.Written == Each.Name; }))
      Found.push_back({DriftKind::Allocator,
                       {Each.Name, "allocates data, and is not among the allocators", Each.Where}});
}

/// A variable that is a root as a whole has its members.
void Drift::compareRoots() {
  for (const RootLine &Each : Fresh.Roots) {
    llvm::StringRef Name = Each.Of.Name;
    if (llvm::none_of(File.Roots, [&](const port::Root &R) {
          return R.Name.Written == Name || Name.starts_with(R.Name.Written + ".") ||
                 llvm::StringRef(R.Name.Written).starts_with((Name + ".").str());
        }))
      Found.push_back(
          {DriftKind::Root, {Each.Of.Name, "is no root (" + Each.Of.Why + ")", Each.Of.Where}});
  }
}

void Drift::compareFields() {
  std::set<std::string> Marked;
  auto Take = [&](const port::Entry &E, const char *) { Marked.insert(E.Written); };
  port::forEachMark(File.Marks, Take);
  for (const port::Decided &D : File.Marks.When)
    Marked.insert(D.Field.Written);
  for (const port::Tagged &T : File.Marks.Tag)
    Marked.insert(T.Field.Written);
  for (const std::vector<Line> *Lines : {&Fresh.StaticFields, &Fresh.VolatileFields})
    for (const Line &Each : *Lines)
      if (!Marked.count(Each.Name))
        Found.push_back({DriftKind::Mark, {Each.Name, "has no mark, and " + Each.Why, Each.Where}});
}

/// The functions that load, without their source.
void Drift::compareLoads() {
  auto Bare = [](llvm::StringRef Name) { return Name.substr(Name.rfind(':') + 1); };
  for (const LoadLine &Each : Fresh.Loads)
    if (llvm::none_of(File.Loads, [&](const port::Load &L) {
          return Bare(L.Function.Written) == Bare(Each.Of.Name);
        }))
      Found.push_back(
          {DriftKind::Load,
           {Each.Of.Name, "is the load function here, and is not in 'load'", Each.Of.Where}});
}

/// Functions that free the data at the end.
void Drift::compareFunctions() {
  for (const Line &Each : Fresh.End)
    if (llvm::none_of(File.End, [&](const port::Entry &E) { return E.Written == Each.Name; }))
      Found.push_back(
          {DriftKind::End,
           {Each.Name, Each.Why + " when the program ends, and is not in 'end'", Each.Where}});
}

std::vector<DriftLine> Drift::run() {
  comparePlaces();
  compareAllocators();
  compareRoots();
  compareFields();
  compareFunctions();
  compareLoads();
  return std::move(Found);
}

} // namespace

std::vector<DriftLine> findDrift(const Program &P, const Everything &All, const Moved &What,
                                 const Plan &Fresh, const port::PortFile &File) {
  return Drift(P, All, What, Fresh, File).run();
}

} // namespace nvmove::plan
