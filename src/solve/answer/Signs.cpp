// See Signs.h.
#include "solve/answer/Signs.h"

#include "solve/summary/Outputs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace nvmove::solve {

namespace {

using facts::Instruction;
using facts::Op;

constexpr double FurtherWeight = 0.75;
/// What is called from more places serves all of the program: messages, lists, strings.
constexpr size_t CallersMax = 25;
constexpr unsigned DistanceMax = 4; ///< Calls to the open: Redis has none, most programs one.

/// To a file, as a save does.
bool writes(llvm::StringRef Name) {
  std::optional<Output> Out = outputOf(Name);
  return Out && Out->Where != StandardOutput && Out->How != OutputWay::Flush;
}

/// Those that Externals.def has no row for: what they fill depends on a format.
bool reads(llvm::StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("fscanf", "vfscanf", "scanf", "readv", "recv", "recvfrom", true)
      .Default(false);
}

bool opensToWrite(llvm::StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("creat", "mkstemp", "mkostemp", "g_mkstemp", "g_file_set_contents", true)
      .Default(false);
}

bool isStream(const Program &P, const Shape &Parameter) {
  return Parameter.isPointerTo(Core::Record) && P.record(Parameter.Record).System &&
         llvm::StringRef(P.record(Parameter.Record).Name).contains_insensitive("file");
}

/// A word of names, with what it says for its way, and the words that a partner may have instead.
struct Word {
  llvm::StringLiteral Text;
  double Points;
  std::array<llvm::StringLiteral, 4> Others;
};

constexpr Word LoadWords[] = {
    {"load", 3, {"save", "store", "dump", "write"}},
    {"restore", 3, {"save", "store", "backup", "dump"}},
    {"import", 2.5, {"export", "save", "write", "dump"}},
    {"read", 2, {"write", "save", "dump", "store"}},
    {"recover", 2, {"checkpoint", "save", "backup", "dump"}},
    {"deserial", 2, {"serial", "save", "write", "dump"}},
    {"parse", 1, {"print", "write", "save", "dump"}},
    {"open", 0.5, {"save", "store", "write", "dump"}},
    {"init", 0.2, {"save", "update", "write", "dump"}},
};
constexpr Word SaveWords[] = {
    {"save", 3, {"load", "restore", "read", "open"}},
    {"backup", 3, {"restore", "load", "read", "recover"}},
    {"export", 2.5, {"import", "load", "read", "parse"}},
    {"dump", 2, {"load", "restore", "read", "parse"}},
    {"store", 2, {"load", "restore", "read", "recover"}},
    {"write", 2, {"read", "load", "restore", "parse"}},
    {"checkpoint", 2, {"recover", "restore", "load", "read"}},
    {"flush", 0.5, {"load", "read", "init", "open"}},
    {"update", 0.5, {"init", "load", "read", "open"}},
};
/// Words with one of the others inside, that say nothing.
constexpr llvm::StringLiteral Deceptive[] = {"upload",   "download", "payload", "workload",
                                             "thread",   "spread",   "already", "readline",
                                             "readable", "readdir"};
/// Files that programs read, and do not keep: what they were told, and what people read.
constexpr llvm::StringLiteral Aside[] = {
    "config", "conf",  "option", "opts",   "include", "rcfile", "help",   "usage",
    "theme",  "color", "locale", "key",    "icon",    "font",   "image",  "graphic",
    "sound",  "cert",  "auth",   "passw",  "pid",     "lock",   "plugin", "module",
    "random", "log",   "test",   "script", "message",
};

/// As "parse_nanorc"; not "load_src".
bool isAside(llvm::StringRef Name) {
  return (Name.ends_with("rc") && !Name.ends_with("src")) ||
         llvm::any_of(Aside, [&](llvm::StringRef Word) { return Name.contains(Word); });
}

std::string without(std::string Name, llvm::ArrayRef<llvm::StringLiteral> Words) {
  for (llvm::StringLiteral Each : Words)
    for (size_t At; (At = Name.find(Each.str())) != std::string::npos;)
      Name.erase(At, Each.size());
  return Name;
}

} // namespace

Signs::Signs(const Program &P, const Inference &Known)
    : P(P), Known(Known), Owns(P.functions().size()) {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
    Lower.try_emplace(llvm::StringRef(P.function(Id).Name).lower(), Id);
    look(Id);
  }
  ToRead = distances(&Own::Opens);
  ToWrite = distances(&Own::OpensToWrite);
}

void Signs::look(FunctionId Id) {
  const FunctionInfo &F = P.function(Id);
  Own &Here = Owns[Id];
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I)
    Here.TakesHandle |= isStream(P, F.parameter(I));
  std::set<facts::Register> Fresh; // results of allocators
  auto Note = [&](const Shape &Type, std::set<RecordKey> &Into) {
    if (Type.isPointerTo(Core::Record) && !P.record(Type.Record).System)
      Into.insert(P.named(Type.Record));
  };
  Here.Called.insert(Known.callees(Id).begin(), Known.callees(Id).end());
  for (const Instruction &I : F.Body->Body) {
    if (I.Code == Op::AddressOf) {
      if (Entity Of = P.entity(F, I.A); Of.What == Entity::Function)
        Here.Called.insert(Of.Id);
    } else if (I.Code == Op::Call && I.A != None) {
      lookAtCall(Id, I);
      Effect What = Known.effect(P.entity(F, I.A)).What;
      if (What == Effect::Allocate || What == Effect::Resize) {
        Fresh.insert(I.Dst);
        if (I.Dst != None)
          Note(F.shapeOf(F.Body->Registers[I.Dst]), Here.Allocated);
      }
    } else if (I.Code == Op::Cast && Fresh.count(I.A)) {
      Note(F.shapeOf(I.Ty), Here.Allocated);
    } else if (I.Code == Op::Copy && Fresh.count(I.A)) {
      Fresh.insert(I.Dst);
      if (I.Dst != None && I.Dst < F.Body->Registers.size())
        Note(F.shapeOf(F.Body->Registers[I.Dst]), Here.Allocated);
    } else if (I.Code == Op::FieldOf && I.Ty != None) {
      if (const Shape &Type = F.shapeOf(I.Ty);
          Type.What == Core::Record && !Type.Pointers && !P.record(Type.Record).System)
        Here.Seen.insert(P.named(Type.Record));
    }
  }
}

void Signs::lookAtCall(FunctionId Id, const Instruction &Call) {
  const FunctionInfo &F = P.function(Id);
  Own &Here = Owns[Id];
  Entity Callee = P.entity(F, Call.A);
  ExternalEffect E = Known.effect(Callee);
  bool OnlyWrites = writesOnly(Call, E);
  Here.Opens |= (E.What == Effect::Open || E.What == Effect::OpenAt) && !OnlyWrites;
  Here.OpensToWrite |= OnlyWrites;
  Here.Maps |= E.What == Effect::Map;
  llvm::StringRef Name;
  if (Callee.What == Entity::External)
    Name = P.externals()[Callee.Id].Name;
  bool Reads = E.What == Effect::Read || E.What == Effect::ReadValue || E.What == Effect::Parse ||
               E.What == Effect::ReadLine || reads(Name);
  bool Writes = writes(Name);
  Here.Reads |= Reads;
  Here.Writes |= Writes;
  Here.OpensToWrite |= opensToWrite(Name);
  Here.OpensToWrite |= Callee.What == Entity::Function && Call.Delta != 0 &&
                       isStream(P, P.function(Callee.Id).result());
  if (Reads || Writes)
    for (unsigned I = 0; I != Call.ArgumentCount; ++I)
      Here.TakesHandle |=
          !parametersBehind(*F.Body, F.Body->Arguments[Call.FirstArgument + I]).empty();
}

std::vector<unsigned> Signs::distances(bool Own::*Opens) const {
  std::vector<unsigned> Calls(Owns.size(), ~0u);
  std::vector<FunctionId> Level;
  for (FunctionId Id = 0; Id != Owns.size(); ++Id)
    if (Owns[Id].*Opens) {
      Calls[Id] = 0;
      Level.push_back(Id);
    }
  for (unsigned Distance = 1; Distance <= DistanceMax; ++Distance) {
    std::vector<FunctionId> Above;
    for (FunctionId Id : Level)
      for (const CallSite &Site : Known.callers(Id))
        if (Calls[Site.Caller] == ~0u) {
          Calls[Site.Caller] = Distance;
          Above.push_back(Site.Caller);
        }
    Level = std::move(Above);
  }
  return Calls;
}

FunctionSigns Signs::below(FunctionId Id, Direction Way) const {
  FunctionSigns Found;
  Found.Distance = (Way == Reading ? ToRead : ToWrite)[Id];
  Found.TakesHandle = Owns[Id].TakesHandle;
  if (Found.Distance == ~0u && !Found.TakesHandle)
    return Found;
  std::set<RecordKey> Records;
  std::set<FunctionId> Seen = {Id};
  std::vector<FunctionId> Level = {Id};
  for (double Weight = 1; !Level.empty(); Weight *= FurtherWeight) {
    std::vector<FunctionId> Below;
    for (FunctionId At : Level) {
      const Own &Here = Owns[At];
      Found.Reads |= Here.Reads;
      Found.Writes |= Here.Writes;
      Found.Maps |= Here.Maps;
      Found.Functions += Weight;
      for (RecordKey Key : Way == Reading ? Here.Allocated : Here.Seen)
        Found.Records += Records.insert(Key).second ? Weight : 0;
      for (FunctionId Callee : Here.Called)
        if (!Known.formats(Callee) && !Known.noReturn(Callee) && Seen.insert(Callee).second) {
          const Own &Its = Owns[Callee];
          Found.Reads |= Its.Reads;
          Found.Writes |= Its.Writes;
          Found.Maps |= Its.Maps;
          if (Known.callers(Callee).size() <= CallersMax)
            Below.push_back(Callee);
        }
    }
    Level = std::move(Below);
  }
  Found.RecordCount = Records.size();
  return Found;
}

NameSign Signs::name(FunctionId Id, Direction Way) const {
  std::string Name = llvm::StringRef(P.function(Id).Name).lower();
  std::string Plain = without(Name, Deceptive);
  NameSign Sign;
  for (const Word &Each : Way == Reading ? llvm::ArrayRef(LoadWords) : llvm::ArrayRef(SaveWords)) {
    if (!llvm::StringRef(Plain).contains(Each.Text))
      continue;
    if (Each.Points > Sign.Points) {
      Sign.Points = Each.Points;
      Sign.Word = Each.Text;
    }
    for (llvm::StringLiteral Other : Each.Others) {
      std::string Partner = Name;
      Partner.replace(Partner.find(Each.Text.str()), Each.Text.size(), Other.str());
      if (auto At = Lower.find(Partner); At != Lower.end() && Sign.Partner.empty())
        Sign.Partner = P.function(At->second).Name;
    }
  }
  llvm::ArrayRef<Word> Against =
      Way == Reading ? llvm::ArrayRef(SaveWords) : llvm::ArrayRef(LoadWords);
  bool Opposite = Sign.Points < 1 && llvm::any_of(
                                         Against,
                                         [&](const Word &Each) {
                                           return Each.Points >= 2 &&
                                                  llvm::StringRef(Plain).contains(Each.Text);
                                         });
  Sign.Points -= (isAside(Plain) ? 2 : 0) + (Opposite ? 2 : 0);
  return Sign;
}

} // namespace nvmove::solve
