// See PointsToRun.h.
#include "PointsToRun.h"

#include "llvm/ADT/StringExtras.h"

namespace nvmove {

using namespace solve;

PointsToRun::PointsToRun(llvm::StringRef Text, uint64_t StepsMax)
    : FactsText(Text), Known(program()), Flow(program()), V(program(), Known, Flow, StepsMax) {
  for (GlobalId Id = 0; Id != program().globals().size(); ++Id)
    if (llvm::StringRef(program().globals()[Id].Name).starts_with("emptied"))
      graph().object(graph().globalObject(Id)).Emptied = true;
  V.enterInitialisers();
  V.enterLoad(function("f"));
  for (const PendingCall &Call : V.calls())
    make(Call);
  Done = graph().run();
  for (const PendingCall &Call : V.calls())
    fill(Call);
  Done = Done && graph().run();
}

std::string PointsToRun::calleeOf(const PendingCall &Call) const {
  Entity Callee = program().entity(V.functionOf(Call.In), Call.Call->A);
  return Callee.What == Entity::External ? program().externals()[Callee.Id].Name : "";
}

void PointsToRun::make(const PendingCall &Call) {
  std::string Name = calleeOf(Call);
  Site Here{Call.In, Call.Call};
  NodeId Result = V.resultNode(Call), First = V.argumentNode(Call, 0);
  NodeId Second = V.argumentNode(Call, 1);
  if (Name == "input" || Name == "handle")
    return graph().add(Result, Name == "input" ? graph().input() : graph().handle());
  if (Name == "built")
    return graph().addBuilt(First, Result);
  if (Name == "copy")
    return graph().addCopyObject(First, Second, 0, Here);
  if (Name == "copy_bytes")
    return graph().addCopyBytes(First, Second, Here);
  llvm::SmallVector<llvm::StringRef> Parts;
  llvm::SplitString(Name, Parts, "_");
  bool Heap = Parts.front() == "new" || Parts.front() == "guess" || Parts.front() == "text";
  if (!Heap && Name != "map")
    return;
  Object Fresh;
  Fresh.Kind = Heap ? ObjectKind::Heap : ObjectKind::Mapped;
  Fresh.Made = Here;
  Fresh.Guessed = Parts.front() == "guess";
  Fresh.Bytes = Name == "text";
  ObjectId Id = graph().makeObject(Fresh);
  for (llvm::StringRef Type : llvm::drop_begin(Parts))
    graph().setType(Id, record(Type), Here);
  graph().add(Result, graph().location(Id, 0));
  Made[Id] = nameOf(V.instance(Call.In).Function, Call.Call->Dst);
}

void PointsToRun::fill(const PendingCall &Call) {
  if (calleeOf(Call) == "fill")
    for (LocationId Each : graph().snapshot(V.argumentNode(Call, 0)))
      graph().fill(graph().at(Each).In, {Call.In, Call.Call});
}

std::string PointsToRun::typesOf(const Object &What) const {
  if (What.Kind == ObjectKind::Pre) {
    static const std::map<Core, std::string> Cores = {{Core::Other, "number"},
                                                      {Core::Void, "void"},
                                                      {Core::Char, "char"},
                                                      {Core::Function, "code"}};
    std::string Text = What.Type.What == Core::Record ? program().record(What.Type.Record).Name
                                                      : Cores.at(What.Type.What);
    return Text + (What.Type.Pointers ? " " : "") + std::string(What.Type.Pointers, '*');
  }
  std::set<std::string> Names;
  for (RecordKey Each : What.Types)
    Names.insert(program().record(Each).Name);
  return joined(Names);
}

std::string PointsToRun::objectText(ObjectId Id) const {
  const Object &What = V.graph().object(Id);
  if (auto It = Made.find(Id); It != Made.end())
    return It->second;
  switch (What.Kind) {
  case ObjectKind::Input:
    return "input";
  case ObjectKind::Handle:
    return "handle";
  case ObjectKind::Size:
    return "sizeof " + program().record(What.Id).Name;
  case ObjectKind::Function:
    return program().function(What.Id).Name;
  case ObjectKind::External:
    return program().externals()[What.Id].Name;
  case ObjectKind::Global:
    return program().globals()[What.Id].Name;
  case ObjectKind::Stack: {
    const facts::TranslationUnit &Unit = V.functionOf(What.Made.In).unit();
    return Unit.text(Unit.Symbols[What.Made.At->A].Name);
  }
  case ObjectKind::Pre:
    return "old " + typesOf(What);
  default:
    return "a " + typesOf(What); // Made by the engine itself.
  }
}

std::string PointsToRun::textOf(solve::Location What) const {
  std::string Text = objectText(What.In);
  if (What.Offset == 0)
    return Text;
  return Text + (What.Offset == AnyOffset ? "+?" : "+" + std::to_string(What.Offset));
}

NodeId PointsToRun::node(llvm::StringRef Name) const {
  return V.node(V.loads().front(), reg("f", Name));
}

std::string PointsToRun::of(NodeId N) const {
  std::set<std::string> Texts;
  for (LocationId Each : V.graph().pointees(N))
    Texts.insert(textOf(V.graph().at(Each)));
  return llvm::join(Texts, ", ");
}

solve::Location PointsToRun::only(llvm::StringRef Name) const {
  std::vector<LocationId> All = V.graph().snapshot(node(Name));
  if (All.size() != 1)
    llvm::report_fatal_error("'" + Name + "' holds " + llvm::Twine(of(Name)));
  return V.graph().at(All.front());
}

} // namespace nvmove
