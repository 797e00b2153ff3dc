// See Assignments.h.
#include "plan/Assignments.h"

namespace nvmove::plan {

using facts::Instruction;
using facts::Op;
using facts::Register;

Assignments::Assignments(const Program &P)
    : P(P), Say(P), FunctionCount(static_cast<ScopeId>(P.functions().size())) {
  for (const FunctionInfo &F : P.functions())
    if (F.Body->Symbol != None)
      look(F);
}

void Assignments::look(const FunctionInfo &F) {
  std::vector<const Instruction *> Defined(F.Body->Registers.size());
  std::map<Register, const Instruction *> Results; // Of calls, and their copies.
  for (const Instruction &I : F.Body->Body) {
    if (I.Dst != None && I.Dst < Defined.size())
      Defined[I.Dst] = &I;
    if (I.Code == Op::Call && I.Dst != None) {
      Results[I.Dst] = &I;
    } else if (I.Code == Op::Cast) {
      if (auto From = Results.find(I.A); From != Results.end())
        Results[I.Dst] = From->second;
    } else if (I.Code == Op::Store) {
      auto From = Results.find(I.B);
      std::string Name = From == Results.end() ? "" : place(F, Defined, I.A);
      if (Name.empty())
        continue;
      auto [It, New] = Known.try_emplace(Name, FunctionCount + static_cast<ScopeId>(Places.size()));
      if (New)
        Places.push_back(Name);
      ByCall.try_emplace(From->second, It->second);
    }
  }
}

std::string Assignments::place(const FunctionInfo &F,
                               const std::vector<const Instruction *> &Defined,
                               Register Address) const {
  const Instruction *Made = Address < Defined.size() ? Defined[Address] : nullptr;
  if (!Made)
    return "";
  if (Made->Code == Op::AddressOf) {
    Entity Of = P.entity(F, Made->A);
    if (Of.What != Entity::Global)
      return "";
    return Say.variable(Of.Id) + (P.globals()[Of.Id].Type.Array ? "[]" : "");
  }
  if (Made->Code != Op::FieldOf)
    return "";
  const RecordInfo &Record = P.record(F.shapeOf(Made->Ty).Record);
  if (Made->B >= Record.Fields.size() || Record.Fields[Made->B].Name.empty())
    return "";
  const RecordField &Field = Record.Fields[Made->B];
  const std::string Name = "." + Field.Name + (Field.Type.Array ? "[]" : "");
  if (!Record.Name.empty())
    return Record.Name + Name;
  std::string Outer = place(F, Defined, Made->A);
  bool OfVariable =
      Made->A < Defined.size() && Defined[Made->A] && Defined[Made->A]->Code == Op::AddressOf;
  return OfVariable && !Outer.empty() ? Outer + Name : "";
}

} // namespace nvmove::plan
