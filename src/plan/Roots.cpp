// See Roots.h.
#include "plan/Roots.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

using facts::Instruction;
using facts::Op;

/// A copy of a larger variable at each commit costs more than to have it in the pool.
constexpr uint64_t CopiedMax = 4096;

RootFinder::RootFinder(const Program &P, const Inference &Known, const Everything &All,
                       const Moved &What)
    : P(P), Known(Known), All(All), Graph(All.graph()), What(What), Say(P) {
  for (Cell Each : What.roots())
    Variables[Each.In].Leading.insert(Each.Offset);
  for (Cell Each : What.alsoRoots())
    Variables[Each.In].Also.insert(Each.Offset);
  findNumbers();
  findInPool();
}

void RootFinder::findNumbers() {
  SharedNumbers Found(P, Known, All, What);
  for (const auto &[At, Where] : Found.cells()) {
    Variables[At.In].Numbers.insert(At.Offset);
    Variables[At.In].Where = Where;
  }
  Others = Found.others();
  Process = Found.ofProcess();
}

void RootFinder::findInPool() {
  std::set<InstanceId> Threads;
  for (InstanceId In : All.entries())
    if (All.visits().instance(In).Via.At)
      Threads.merge(All.extent({All.functionOf(In)}));
  auto Move = [&](ObjectId Id, std::string Why) {
    if (!Variables[Id].InPool)
      Variables[Id].WhyInPool = std::move(Why);
    Variables[Id].InPool = true;
  };
  for (auto &[Id, Of] : Variables) {
    const Shape &Type = Graph.object(Id).Type;
    if (auto It = What.addressed().find(Id); It != What.addressed().end())
      Move(Id,
           "its address lies in " +
               (What.fieldName(It->second).empty() ? "other roots" : What.fieldName(It->second)));
    else if (Type.What == Core::Record && !Type.Pointers && What.isPersistent(Type.Record))
      Move(Id, "it is of a persistent type");
    else if (Type.Size > CopiedMax)
      Move(Id, "a copy of it at each commit would be long");
  }
  for (InstanceId In : Threads) {
    const FunctionInfo &F = All.visits().functionOf(In);
    for (const Instruction &I : F.Body->Body)
      if (NodeId N = All.visits().node(In, I.A); I.Code == Op::Store && N != None)
        for (LocationId Each : Graph.pointees(N))
          if (auto It = Variables.find(Graph.at(Each).In); It != Variables.end())
            Move(It->first, "another thread stores there, at " + shown(What.placeOf({In, &I})));
  }
  // A cursor into a root is one, too.
  std::map<ObjectId, std::set<int64_t>> Cursors;
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (const Object &Here = Graph.object(Id); Here.Kind == ObjectKind::Global && !Here.Constant)
      for (auto [Offset, At] : Here.Cells)
        for (LocationId Each : Graph.pointees(At))
          if (Graph.at(Each).In != Id && Variables.count(Graph.at(Each).In) &&
              What.isUsed({Id, Offset}))
            Cursors[Id].insert(Offset);
  for (const auto &[Id, Cells] : Cursors)
    Variables[Id].Also.insert(Cells.begin(), Cells.end());
  if (What.objects().empty()) // A port file without allocators has nothing but these.
    for (auto &[Id, Of] : Variables)
      Move(Id, "nothing is allocated in the pool");
  // A root that has the address of one that moves moves with it: it may be in its initialiser.
  for (bool Grew = true; Grew;) {
    Grew = false;
    for (auto &[Id, Of] : Variables)
      for (auto [Offset, At] : Graph.object(Id).Cells)
        for (LocationId Each : Graph.pointees(At)) {
          ObjectId To = Graph.at(Each).In;
          if (To == Id || !Variables.count(To) || (Of.InPool && Variables[To].InPool))
            continue;
          Move(To, "its address is in " + Say.variable(Graph.object(Id).Id));
          Move(Id, "it has the address of " + Say.variable(Graph.object(To).Id));
          Grew = true;
        }
  }
}

std::set<ObjectId> RootFinder::inPool() const {
  std::set<ObjectId> Found;
  for (const auto &[Id, Of] : Variables)
    if (Of.InPool)
      Found.insert(Id);
  return Found;
}

/// True when the whole variable is a root: it is no record, or nothing in it is of another kind. No
/// name says a member of each element of an array.
bool RootFinder::isWhole(ObjectId Id, const Variable &Of) const {
  const Object &Here = Graph.object(Id);
  if (Here.Type.What != Core::Record || Here.Type.Pointers || Here.Type.Array || Of.InPool)
    return true;
  for (auto [Offset, At] : Here.Cells) {
    if (Of.Leading.count(Offset) || Of.Also.count(Offset))
      continue;
    for (LocationId Each : Graph.pointees(At))
      if (Graph.object(Graph.at(Each).In).isMemory() && !What.moves(Graph.at(Each).In))
        return false;
  }
  return true;
}

void RootFinder::describe(ObjectId Id, const Variable &Of, Plan &Into) const {
  const Object &Here = Graph.object(Id);
  std::string Name = Say.variable(Here.Id);
  auto Add = [&](std::string Written, const std::string &Why) {
    if (llvm::none_of(Into.Roots, [&](const RootLine &R) { return R.Of.Name == Written; }))
      Into.Roots.push_back({{std::move(Written), Why, Of.Where}, Of.InPool});
  };
  std::string Why = !Of.Leading.empty() ? "leads to what the load makes"
                    : !Of.Also.empty()
                        ? "leads into the pool"
                        : "set at " + shown(Of.Where) + ", and used by the running program";
  if (Of.InPool)
    Why += "; " + Of.WhyInPool;
  if (isWhole(Id, Of))
    return Add(Name, Why);
  for (const auto &[Cells, Because] : {std::pair(Of.Leading, "leads to what the load makes"),
                                       {Of.Also, "leads into the pool"},
                                       {Of.Numbers, "a number beside it"}})
    for (int64_t Offset : Cells)
      if (std::string Member = Say.member(Here.Type.Record, Offset); !Member.empty())
        Add(Name + "." + Member, Because);
}

/// Variables that are no roots, whose address lies in the pool: tables of the program.
void RootFinder::describeAddressed(Plan &Into) const {
  for (const auto &[Id, From] : What.addressed()) {
    if (Variables.count(Id))
      continue;
    std::string Field = What.fieldName(From), Name = Say.variable(Graph.object(Id).Id);
    std::string Place = shown(What.stored(From, Id));
    if (Field.empty())
      Into.Questions.push_back({Key::Roots,
                                "the address of the variable " + Name + " is stored in the pool (" +
                                    Place + "), and it is no root",
                                {"make it a root with 'in_pool: true'"}});
    else if (llvm::none_of(Into.StaticFields, [&](const Line &L) { return L.Name == Field; }))
      Into.StaticFields.push_back(
          {Field, "has the address of the variable " + Name, What.stored(From, Id)});
  }
}

void RootFinder::describeLocals(Plan &Into) const {
  std::set<std::string> Places;
  for (ObjectId Id : What.locals())
    if (FunctionId Its = All.functionOf(Graph.object(Id).Made.In);
        P.function(Its).Body->Symbol == None)
      Places.insert("an object without a name (a compound literal outside functions)");
    else
      Places.insert("a local variable of " + Say.function(Its));
  if (!Places.empty())
    Into.Questions.push_back(
        {Key::Roots,
         "the load stores what it makes into " + listed(Places) + ", which a restart does not have",
         {"make it a global variable, and plan again",
          "nothing, if the program does not keep it"}});
}

void RootFinder::describeOfProcess(Plan &Into) const {
  for (const auto &[Id, Made] : Process)
    Into.Questions.push_back(
        {Key::Roots,
         "the load sets the variable " + Say.variable(Graph.object(Id).Id) + " to what " +
             Made.Maker.str() + " gives (" + shown(Made.Where) +
             "): it belongs to the process, and a restart does not run the load",
         {"set it where the program starts, outside the load, and plan again",
          "nothing, if only the load uses it"}});
}

void RootFinder::describe(Plan &Into) const {
  describeLocals(Into);
  describeOfProcess(Into);
  for (ObjectId Id : Others)
    if (!Variables.count(Id))
      Into.NotRoots.insert(Say.variable(Graph.object(Id).Id));
  for (const auto &[Id, Of] : Variables)
    describe(Id, Of, Into);
  describeAddressed(Into);
}

} // namespace nvmove::plan
