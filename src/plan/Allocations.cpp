// See Allocations.h.
#include "plan/Allocations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace nvmove::plan {

namespace {

using facts::Instruction;
using facts::Op;

class Allocations {
public:
  Allocations(const Program &P, const Inference &Known, const Everything &All, const Moved &What,
              Plan &Into)
      : P(P), Known(Known), All(All), Graph(All.graph()), What(What), Into(Into), Say(P) {}

  void run();

private:
  std::string typeName(ObjectId Id) const;
  bool hasHeader(FunctionId Id, const facts::Instruction &Call) const;
  void findAllocators();
  void addAllocator(const FunctionInfo &In, const Instruction &Call, std::set<FunctionId> &Seen);
  void findBytes();
  void findScopes();
  void add(std::vector<Line> &To, std::string Name, std::string Why, SourcePlace Where) const;

  const Program &P;
  const Inference &Known;
  const Everything &All;
  const PointsTo &Graph;
  const Moved &What;
  Plan &Into;
  const Names Say;
};

void Allocations::add(std::vector<Line> &To, std::string Name, std::string Why,
                      SourcePlace Where) const {
  if (llvm::none_of(To, [&](const Line &L) { return L.Name == Name; }))
    To.push_back({std::move(Name), std::move(Why), std::move(Where)});
}

std::string Allocations::typeName(ObjectId Id) const {
  const Object &Made = Graph.object(Id);
  return Made.Types.empty() ? Made.Bytes ? "bytes" : "memory" : P.displayName(*Made.Types.begin());
}

void Allocations::addAllocator(const FunctionInfo &In, const Instruction &Call,
                               std::set<FunctionId> &Seen) {
  Entity Callee = Call.A == None ? Entity() : P.entity(In, Call.A);
  SourcePlace Where = Say.place(In, Call.Where);
  if (Callee.What == Entity::External) {
    const std::string &Name = P.externals()[Callee.Id].Name;
    std::string Text = "what " + Name + " allocates (" + shown(Where) + ") cannot lie in a pool";
    auto IsAsked = [&](const Question &Q) { return Q.Text == Text; };
    if (isPools(Name))
      add(Into.Allocators, Name, "called at " + shown(Where), Where);
    else if (llvm::none_of(Into.Questions, IsAsked))
      Into.Questions.push_back({Key::Allocators, Text, {"call malloc there"}});
  } else if (Callee.What == Entity::Function && Seen.insert(Callee.Id).second) {
    const FunctionInfo &F = P.function(Callee.Id);
    bool Handed = false; // What it allocates is what it gives.
    for (const Instruction &I : F.Body->Body) {
      if (I.Code != Op::Call || I.A == None)
        continue;
      Entity Inner = P.entity(F, I.A);
      Effect E = Known.effect(Inner).What;
      if (E != Effect::Allocate && E != Effect::Resize)
        continue;
      if (Inner.What == Entity::Function)
        addAllocator(F, I, Seen);
      add(Into.Allocators, Say.function(Callee.Id), "called at " + shown(Where), Where);
      Handed |= handsOn(P, Callee.Id, I);
      if (hasHeader(Callee.Id, I))
        Into.Questions.push_back(
            {Key::Allocators,
             Say.function(Callee.Id) +
                 " gives an address behind a header of its own, and the pool does not "
                 "know what lies there: such a pool cannot move",
             {"let it give what malloc gave, where the pool is used"}});
    }
    if (!Handed)
      Into.Questions.push_back(
          {Key::Allocators,
           Say.function(Callee.Id) + " (" + shown(Where) +
               ") hands out parts of larger blocks, whose types the pool does not know: such a "
               "pool cannot move",
           {"nothing, if the blocks are arrays of one record, allocated as such",
            "let it call malloc for each"}});
  }
}

/// True when \p Id gives an address inside of what \p Call allocates: behind a header.
bool Allocations::hasHeader(FunctionId Id, const Instruction &Call) const {
  const facts::Function &Body = *P.function(Id).Body;
  auto Gives = [&](facts::Register R) {
    return llvm::any_of(Body.Body, [&](const Instruction &I) {
      return I.Code == Op::Return && I.A != None && I.A != facts::NullRegister &&
             registersBehind(Body, I.A).count(R);
    });
  };
  return llvm::any_of(Body.Body, [&](const Instruction &I) {
    bool Steps = I.Code == Op::Offset || I.Code == Op::Wander || I.Code == Op::ElementOf ||
                 (I.Code == Op::FieldOf && I.Delta != 0);
    return Steps && registersBehind(Body, I.A).count(Call.Dst) && Gives(I.Dst);
  });
}

void Allocations::findAllocators() {
  std::set<FunctionId> Seen;
  for (ObjectId Id : What.objects()) {
    const Site &Made = Graph.object(Id).Made;
    if (!Made.At)
      continue;
    FunctionId Maker = All.functionOf(Made.In);
    Entity Callee = Made.At->A == None ? Entity() : P.entity(P.function(Maker), Made.At->A);
    bool IsPools = Callee.What == Entity::External && isPools(P.externals()[Callee.Id].Name);
    if (IsPools && handsOn(P, Maker, *Made.At))
      add(Into.Allocators, Say.function(Maker), "its callers say what it allocates",
          Say.definition(Maker));
    else
      addAllocator(P.function(Maker), *Made.At, Seen);
  }
}

/// Functions that make only what holds no pointers, where the call itself does not say so.
void Allocations::findBytes() {
  std::map<FunctionId, std::pair<bool, bool>> Makers; // Some needs to be told; all are bytes.
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id) {
    const Object &Made = Graph.object(Id);
    if (Made.Kind != ObjectKind::Heap || !Made.Made.At)
      continue;
    bool Pointers = !Made.Types.empty();
    for (auto [Offset, At] : Made.Cells)
      for (LocationId Each : Graph.pointees(At))
        Pointers |= Graph.object(Graph.at(Each).In).isMemory();
    auto &[Told, Bytes] =
        Makers.try_emplace(All.functionOf(Made.Made.In), false, true).first->second;
    Told |= What.moves(Id) && !Pointers && !Made.Bytes;
    Bytes &= !Pointers;
  }
  for (const auto &[Maker, Is] : Makers)
    if (Is.first && Is.second && P.function(Maker).Body->Symbol != None)
      add(Into.Bytes, Say.function(Maker), "what it allocates holds no pointers",
          Say.definition(Maker));
}

void Allocations::findScopes() {
  Scopes Found(P, All, What);
  for (const auto &[Id, Which] : Found.chosen()) {
    std::set<std::string> Types;
    for (ObjectId Each : Which.For)
      Types.insert(typeName(Each));
    std::string Names = llvm::join(Types, ", ");
    SourcePlace Where = What.madeAt(*Which.For.begin());
    std::vector<Line> &To = Which.Kind == Scope::Persistent ? Into.Persistent
                            : Which.Kind == Scope::Volatile ? Into.Volatile
                                                            : Into.Beside;
    add(To, Found.name(Id), "allocates " + Names + " (" + shown(Where) + ")", Where);
  }
  std::map<FunctionId, std::pair<std::set<std::string>, std::set<std::string>>> ByMaker;
  for (ObjectId Id : Found.left()) {
    auto &[Moving, Staying] = ByMaker[All.functionOf(Graph.object(Id).Made.In)];
    (What.moves(Id) ? Moving : Staying).insert(typeName(Id) + " (" + shown(What.madeAt(Id)) + ")");
  }
  for (const auto &[Maker, Objects] : ByMaker) {
    std::string Name = Say.function(Maker);
    if (!Objects.first.empty())
      Into.Questions.push_back(
          {Key::Persistent,
           Name + " allocates " + listed(Objects.first) +
               ", which may be linked to the data, and other things; it lies in DRAM where no "
               "scope is around",
           {"nothing, until a commit names the field that it is linked by",
            "a scope by the field or variable that takes it, or by the callers of " + Name +
                " that link it"},
           Name});
    if (!Objects.second.empty())
      Into.Questions.push_back(
          {Key::Volatile,
           "in the calls of " + Name + " also " + listed(Objects.second) + " goes to the pool",
           {"nothing, if it holds no address of what stays in DRAM",
            "'volatile': a scope by the field or variable that takes it"},
           Name});
  }
}

void Allocations::run() {
  findAllocators();
  findBytes();
  findScopes();
}

} // namespace

bool isPools(llvm::StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", true)
      .Cases("asprintf", "vasprintf", "getline", "getdelim", "__getdelim", true)
      .Default(false);
}

bool handsOn(const Program &P, FunctionId Id, const Instruction &Call) {
  const FunctionInfo &F = P.function(Id);
  bool Sized = false;
  for (unsigned I = 0; I != Call.ArgumentCount; ++I)
    for (unsigned Parameter : parametersBehind(*F.Body, F.Body->Arguments[Call.FirstArgument + I]))
      Sized |= F.parameter(Parameter).Pointers == 0;
  return Sized && llvm::any_of(F.Body->Body, [&](const Instruction &I) {
           return I.Code == Op::Return && I.A != None && I.A != facts::NullRegister &&
                  registersBehind(*F.Body, I.A).count(Call.Dst);
         });
}

void describeAllocations(const Program &P, const Inference &Known, const Everything &All,
                         const Moved &What, Plan &Into) {
  Allocations(P, Known, All, What, Into).run();
}

} // namespace nvmove::plan
