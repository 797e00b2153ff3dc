// Who allocates, keeps in stock or frees on behalf of others. See Inference.h.
#include "solve/Heuristics.h"
#include "solve/summary/Inference.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace nvmove::solve {

using facts::Function;
using facts::Instruction;
using facts::Op;
using facts::Register;

namespace {} // namespace

/// Functions that reach an allocator by at most PoolDepth direct calls, not counting what they log.
std::vector<bool> Inference::reachAllocator() const {
  std::vector<bool> Reaches(P.functions().size());
  std::vector<FunctionId> Level;
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    for (const Instruction &I : P.function(Id).Body->Body)
      if (I.Code == Op::Call && I.A != None && !Reaches[Id] && !Formats[Id]) {
        Effect What = effect(P.entity(P.function(Id), I.A)).What;
        if (What == Effect::Allocate || What == Effect::AllocateAt || What == Effect::Resize ||
            What == Effect::ReadLine || What == Effect::Map) {
          Reaches[Id] = true;
          Level.push_back(Id);
        }
      }
  for (unsigned Depth = 0; Depth != PoolDepth; ++Depth) {
    std::vector<FunctionId> Above;
    for (FunctionId Id : Level)
      for (const CallSite &Site : Callers[Id])
        if (!Reaches[Site.Caller] && !Formats[Site.Caller]) {
          Reaches[Site.Caller] = true;
          Above.push_back(Site.Caller);
        }
    Level = std::move(Above);
  }
  return Reaches;
}

void Inference::inferAllocators() {
  bool Grew = true;
  while (Grew) {
    Grew = false;
    for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
      if (StandsFor[Id].What == Effect::Unknown && P.function(Id).Body->Symbol != None)
        Grew |= inferAllocator(Id) || inferDestructor(Id);
  }
  Allocates = reachAllocator();
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    if (StandsFor[Id].What == Effect::Unknown && P.function(Id).Body->Symbol != None)
      inferPool(Id, Allocates);
}

namespace {

/// Registers of \p Body that a Return may give back.
std::set<Register> returned(const Function &Body) {
  std::set<Register> Back;
  for (const Instruction &I : Body.Body)
    if (I.Code == Op::Return && I.A != None && I.A != facts::NullRegister)
      Back.merge(registersBehind(Body, I.A));
  return Back;
}

unsigned pointerParameters(const FunctionInfo &F, int &Only) {
  unsigned Count = 0;
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I)
    if (F.parameter(I).Pointers &&
        !(F.parameter(I).What == Core::Char && F.parameter(I).ConstPointee)) {
      ++Count;
      Only = static_cast<int>(I);
    }
  return Count;
}

} // namespace

bool Inference::inferAllocator(FunctionId Id) {
  const FunctionInfo &F = P.function(Id);
  Shape Result = F.result();
  int Pointer = -1;
  unsigned Pointers = pointerParameters(F, Pointer);
  // Memory is handed out as void * or char *; before void there was, it was int * or long *.
  if (!Result.isGenericPointer() && !(Result.isPointerTo(Core::Other) && Pointers == 0))
    return false;
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I)
    if (F.parameter(I).Pointers > 1)
      return false; // Hands memory out through a pointer: its body says how.
  std::set<Register> Back;
  for (const Instruction &I : F.Body->Body) {
    if (I.Code != Op::Call || I.A == None || I.Dst == None)
      continue;
    ExternalEffect Inner = effect(P.entity(F, I.A));
    if (Inner.What != Effect::Allocate && Inner.What != Effect::Resize)
      continue;
    if (Back.empty())
      Back = returned(*F.Body);
    if (!Back.count(I.Dst))
      continue;
    auto ParameterOf = [&](int Argument) {
      if (Argument < 0 || Argument >= I.ArgumentCount)
        return -1;
      for (unsigned Parameter :
           parametersBehind(*F.Body, F.Body->Arguments[I.FirstArgument + Argument]))
        if (F.parameter(Parameter).Pointers == 0)
          return static_cast<int>(Parameter);
      return -1;
    };
    bool Resizes = Inner.What == Effect::Resize;
    int Size = ParameterOf(Resizes ? Inner.B : Inner.A);
    int Count = ParameterOf(Resizes ? Inner.C : Inner.B);
    if (Size < 0)
      std::swap(Size, Count);
    if (Size < 0)
      continue;
    if (Resizes && Pointers == 1 && F.parameter(Pointer).Pointers == 1) {
      StandsFor[Id] = {Effect::Resize, Pointer, Size, Count};
      return true;
    }
    // With a char result only a function without content to copy is an allocator.
    if (Result.What == Core::Void || Pointers == 0) {
      bool TakesContent = false;
      for (unsigned I = 0; I != F.Body->ParameterCount; ++I)
        TakesContent |= F.parameter(I).isPointerTo(Core::Void);
      if (TakesContent)
        continue;
      StandsFor[Id] = {Effect::Allocate, Size, Count, -1};
      return true;
    }
  }
  return false;
}

namespace {

/// Parameters of \p Body that are addresses of a variable whose value reaches \p R: "free(*p)".
std::vector<unsigned> parametersLoaded(const Function &Body, Register R) {
  std::vector<unsigned> Parameters;
  std::set<Register> Behind = registersBehind(Body, R);
  for (const Instruction &I : Body.Body)
    if (I.Code == Op::Load && Behind.count(I.Dst))
      for (unsigned Parameter : parametersBehind(Body, I.A))
        Parameters.push_back(Parameter);
  return Parameters;
}

/// Stores nothing that is worth keeping: of a destructor that is given an object no parameter, of
/// one that is given a pointer to it no pointer at all.
bool keepsNothing(const FunctionInfo &F, bool Through) {
  for (const Instruction &I : F.Body->Body) {
    if (I.Code != Op::Store || I.B == None || I.B == facts::NullRegister)
      continue;
    if (Through && F.shapeOf(F.Body->Registers[I.B]).Pointers)
      return false;
    for (unsigned Parameter : parametersBehind(*F.Body, I.B))
      if (F.parameter(Parameter).Pointers)
        return false;
  }
  return true;
}

} // namespace

/// What is freed is not left behind, and neither is what only its destructor sees.
bool Inference::inferDestructor(FunctionId Id) {
  const FunctionInfo &F = P.function(Id);
  if (F.result().Pointers)
    return false;
  // A branch that frees and returns is a way out, not what the function is for.
  std::set<uint32_t> Leaving;
  for (const Instruction &I : F.Body->Body)
    if (I.Code == Op::Return && I.Region != 0)
      Leaving.insert(I.Region);
  ExternalEffect Made;
  for (const Instruction &I : F.Body->Body) {
    if (I.Code != Op::Call || I.A == None || Leaving.count(I.Region))
      continue;
    ExternalEffect Inner = effect(P.entity(F, I.A));
    if (Inner.What != Effect::Release || Inner.A < 0 || Inner.A >= I.ArgumentCount)
      continue;
    if (I.Region != 0 && Inner.B == Conditional)
      continue; // Freed in some cases of some case: the function is for something else.
    Register Freed = F.Body->Arguments[I.FirstArgument + Inner.A];
    bool Sure = I.Region == 0 && Inner.B != Conditional;
    int Only = -1;
    unsigned Pointers = pointerParameters(F, Only);
    auto Note = [&](unsigned Parameter, bool Through) {
      if ((Through && Pointers != 1) || F.parameter(Parameter).Pointers != (Through ? 2 : 1) ||
          (Made.A >= 0 && !Sure) || !keepsNothing(F, Through))
        return;
      int Address = Made.A >= 0 ? Made.A : static_cast<int>(Parameter);
      Made = {Effect::Release, Address, Sure ? -1 : Conditional, Through ? ThroughPointer : -1};
    };
    for (unsigned Parameter : parametersBehind(*F.Body, Freed))
      Note(Parameter, Inner.C == ThroughPointer);
    if (Inner.C != ThroughPointer)
      for (unsigned Parameter : parametersLoaded(*F.Body, Freed))
        Note(Parameter, /*Through=*/true);
  }
  if (Made.What == Effect::Unknown)
    return false;
  StandsFor[Id] = Made;
  return true;
}

/// True when \p F returns memory that it allocates with the size of some record: a constructor.
bool Inference::stampsType(const FunctionInfo &F) const {
  std::set<Register> Sizes, Back = returned(*F.Body);
  for (const Instruction &I : F.Body->Body)
    if (I.Code == Op::SizeOf)
      Sizes.insert(I.Dst);
  if (Sizes.empty())
    return false;
  for (const Instruction &I : F.Body->Body) {
    if (I.Code != Op::Call || I.A == None || !Back.count(I.Dst))
      continue;
    for (unsigned A = 0; A != I.ArgumentCount; ++A)
      for (Register Each : registersBehind(*F.Body, F.Body->Arguments[I.FirstArgument + A]))
        if (Sizes.count(Each))
          return true;
  }
  return false;
}

std::set<GlobalId> Inference::setsUp(FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  std::map<Register, GlobalId> Globals;
  std::set<Register> Fresh;
  for (const Instruction &I : F.Body->Body) {
    if (Entity Meant = I.Code == Op::AddressOf ? P.entity(F, I.A) : Entity();
        Meant.What == Entity::Global)
      Globals[I.Dst] = Meant.Id;
    if (I.Code == Op::Call && I.A != None && effect(P.entity(F, I.A)).What == Effect::Allocate)
      Fresh.insert(I.Dst);
  }
  std::set<GlobalId> Found;
  for (const Instruction &I : F.Body->Body)
    if (auto To = Globals.find(I.A); I.Code == Op::Store && To != Globals.end())
      for (Register Each : registersBehind(*F.Body, I.B))
        if (Fresh.count(Each))
          Found.insert(To->second);
  return Found;
}

bool Inference::makesBehind(FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  auto IsAddress = [&](unsigned I) { return F.parameter(I).Pointers >= 2; };
  std::set<Register> Given;
  for (const Instruction &I : F.Body->Body)
    if (I.Code == Op::Call && I.Dst != None && F.shapeOf(F.Body->Registers[I.Dst]).Pointers)
      Given.insert(I.Dst);
  for (const Instruction &I : F.Body->Body) {
    if (I.Code != Op::Store || I.B == None || I.B == facts::NullRegister || Given.empty() ||
        !llvm::any_of(parametersBehind(*F.Body, I.A), IsAddress))
      continue;
    for (Register Each : registersBehind(*F.Body, I.B))
      if (Given.count(Each))
        return true;
  }
  return false;
}

/// True when \p Id reads, or has what it calls directly do so: it gives more than memory.
bool Inference::reads(FunctionId Id, bool Itself) const {
  const FunctionInfo &F = P.function(Id);
  return llvm::any_of(F.Body->Body, [&](const Instruction &I) {
    if (I.Code != Op::Call || I.A == None)
      return false;
    Entity Callee = P.entity(F, I.A);
    if (Callee.What == Entity::Function && !NoReturn[Callee.Id] && !Formats[Callee.Id])
      return !Itself && reads(Callee.Id, /*Itself=*/true);
    Effect What = effect(Callee).What;
    return What == Effect::Read || What == Effect::ReadValue || What == Effect::Parse ||
           What == Effect::ReadLine;
  });
}

bool Inference::inferPool(FunctionId Id, const std::vector<bool> &Reaches) {
  const FunctionInfo &F = P.function(Id);
  if (!Reaches[Id] || !F.result().isPointerTo(Core::Void) || stampsType(F) || reads(Id))
    return false;
  int Size = -1;
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I) {
    const Shape &Parameter = F.parameter(I);
    if (Parameter.isPointerTo(Core::Void) || Parameter.isPointerTo(Core::Char) ||
        Parameter.isPointerTo(Core::Function) || Parameter.Pointers > 1)
      return false;
    if (Parameter.Pointers == 0 && Size < 0)
      Size = static_cast<int>(I);
  }
  if (F.Body->ParameterCount == 0)
    return false;
  StandsFor[Id] = {Effect::Allocate, Size, -1, -1};
  return true;
}

} // namespace nvmove::solve
