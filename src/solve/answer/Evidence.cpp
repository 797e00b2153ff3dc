// The chain that proves a type: load function, calls, allocation, stores, root. See LeftBehind.h.
#include "solve/answer/LeftBehind.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

SourcePlace LeftBehind::place(const Site &Where) const {
  if (!Where.At)
    return {};
  const facts::TranslationUnit &Unit = V.functionOf(Where.In).unit();
  return {Unit.text(Where.At->Where.File), Where.At->Where.Line, Where.At->Where.Column};
}

std::string LeftBehind::objectName(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  switch (What.Kind) {
  case ObjectKind::Global:
    return "global '" + P.globals()[What.Id].Name + "'";
  case ObjectKind::Pre:
    if (What.Type.What == Core::Record && What.Type.Pointers)
      return "an array of '" + P.displayName(What.Type.Record) + " *' that existed before the load";
    if (What.Type.What == Core::Record)
      return "a '" + P.displayName(What.Type.Record) + "' that existed before the load";
    return "memory that existed before the load";
  case ObjectKind::Mapped:
    return "the mapped memory";
  default:
    if (!What.Types.empty())
      return "a '" + P.displayName(*What.Types.begin()) + "'";
    if (!What.Views.empty())
      return "a '" + P.displayName(What.Views.begin()->first) + "'";
    return "a buffer";
  }
}

/// "'field' of X" for a cell, as far as the type of the object tells.
std::string LeftBehind::cellName(ObjectId Id, int64_t Offset) const {
  const Object &What = Graph.object(Id);
  RecordKey Key = None;
  if (!What.Types.empty())
    Key = *What.Types.begin();
  else if (What.Type.What == Core::Record && !What.Type.Pointers)
    Key = What.Type.Record;
  if (Key == None || Offset == AnyOffset)
    return objectName(Id);
  for (const RecordField &Field : P.record(Key).Fields)
    if (Offset >= static_cast<int64_t>(Field.Offset) &&
        Offset < static_cast<int64_t>(Field.Offset + std::max<uint64_t>(Field.Type.Size, 1)) &&
        !Field.Name.empty())
      return "'" + Field.Name + "' of " + objectName(Id);
  return objectName(Id);
}

void LeftBehind::callChain(InstanceId In, std::vector<EvidenceStep> &Steps) const {
  std::vector<EvidenceStep> Back;
  InstanceId At = In;
  for (unsigned Guard = 0; Guard != 256; ++Guard) {
    const Instance &Each = V.instance(At);
    const FunctionInfo &F = V.functionOf(At);
    if (!Each.Via.At) {
      if (F.Body->Symbol != None) {
        const facts::Location &Where = F.symbol().Where;
        Back.push_back({EvidenceStep::Kind::Load,
                        {F.unit().text(Where.File), Where.Line, Where.Column},
                        "load function '" + F.Name + "'"});
      }
      break;
    }
    Back.push_back({EvidenceStep::Kind::Call, place(Each.Via), "calls '" + F.Name + "'"});
    At = Each.Via.In;
  }
  Steps.insert(Steps.end(), Back.rbegin(), Back.rend());
}

void LeftBehind::storeChain(ObjectId Id, std::vector<EvidenceStep> &Steps) const {
  ObjectId At = Id;
  for (unsigned Guard = 0; Guard != 64; ++Guard) {
    const Reach &How = Reached.at(At);
    if (How.From == None)
      break;
    const auto &Cells = Graph.object(How.From).Cells;
    if (auto Cell = Cells.find(How.Offset); Cell != Cells.end()) {
      Site Where;
      for (const Feed &Each : Graph.feeds(Cell->second))
        if (Graph.pointsInto(Each.From, At)) {
          Where = Each.Where;
          break;
        }
      Steps.push_back(
          {EvidenceStep::Kind::Store, place(Where), "stored in " + cellName(How.From, How.Offset)});
    } else if (const auto &Sites = Graph.object(At).TypeSites; !Sites.empty()) {
      Steps.push_back({EvidenceStep::Kind::Store, place(Sites.begin()->second), // Object::Behind
                       "lies behind " + objectName(How.From) + ", in one block"});
    }
    At = How.From;
  }
  const Object &Root = Graph.object(At);
  EvidenceStep Last{EvidenceStep::Kind::Root, {}, ""};
  if (Root.Kind == ObjectKind::Global) {
    const GlobalInfo &Global = P.globals()[Root.Id];
    const facts::Location &Where = Global.Symbol->Where;
    Last.Where = {Global.View->Unit->text(Where.File), Where.Line, Where.Column};
    Last.Text = "reachable from global '" + Global.Name + "' after the load";
  } else if (Root.isOlder()) {
    Last.Text = "reachable after the load: " + objectName(At) + " keeps it";
  } else {
    Last.Text = "returned by the load function";
  }
  Steps.push_back(std::move(Last));
}

/// Why an object that was made is state: where input comes into it, or what it leads to.
EvidenceStep LeftBehind::inputStep(ObjectId Id) const {
  auto Carries = [&](NodeId N) {
    bool Input = Graph.holds(N, Graph.input());
    for (LocationId Each : Graph.pointees(N)) {
      ObjectId To = Graph.at(Each).In; // A text that was read.
      Input |= Graph.object(To).Kind == ObjectKind::Heap && Graph.object(To).Types.empty() &&
               Kept.of(To).Input;
    }
    return Input;
  };
  for (auto [Offset, Cell] : Graph.object(Id).Cells) {
    if (!Carries(Cell))
      continue;
    for (const Feed &Each : Graph.feeds(Cell))
      if (Carries(Each.From))
        return {EvidenceStep::Kind::Read, place(Each.Where),
                "input is stored in " + cellName(Id, Offset)};
    if (auto Filled = Graph.filled().find(Id); Filled != Graph.filled().end())
      return {EvidenceStep::Kind::Read, place(Filled->second), "filled with input here"};
    return {EvidenceStep::Kind::Read, {}, "input reaches " + cellName(Id, Offset)};
  }
  for (auto [Offset, Cell] : Graph.object(Id).Cells)
    for (LocationId Each : Graph.pointees(Cell))
      if (ObjectId To = Graph.at(Each).In; To != Id && Data.count(To))
        return {EvidenceStep::Kind::Read,
                {},
                cellName(Id, Offset) + " leads to " + objectName(To) + ", which input reaches"};
  return {EvidenceStep::Kind::Read, {}, "no input reaches it: it is only kept"};
}

std::vector<EvidenceStep> LeftBehind::chain(const Found &F) const {
  std::vector<EvidenceStep> Steps;
  const Object &What = Graph.object(F.Object);
  if (What.Made.At) {
    callChain(What.Made.In, Steps);
    Steps.push_back(
        {What.Kind == ObjectKind::Mapped ? EvidenceStep::Kind::Read
                                         : EvidenceStep::Kind::Allocation,
         place(What.Made),
         (What.Kind == ObjectKind::Mapped ? "mapped here, " : "allocated here ") + F.TypeText});
    if (F.TypeSite.At && F.TypeSite.At != What.Made.At)
      Steps.push_back({EvidenceStep::Kind::Type, place(F.TypeSite), F.TypeText});
    if (What.Kind == ObjectKind::Heap)
      Steps.push_back(inputStep(F.Object));
  } else {
    for (auto [Offset, Cell] : What.Cells) {
      if (!Graph.holds(Cell, Graph.input()) || Graph.feeds(Cell).empty())
        continue;
      for (const Feed &Each : Graph.feeds(Cell))
        if (Graph.holds(Each.From, Graph.input())) {
          callChain(Each.Where.In, Steps);
          Steps.push_back({EvidenceStep::Kind::Store, place(Each.Where),
                           "input is stored in " + cellName(F.Object, Offset)});
          break;
        }
      if (!Steps.empty())
        break;
    }
  }
  storeChain(F.Object, Steps);
  return Steps;
}

} // namespace nvmove::solve
