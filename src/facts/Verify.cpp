// Checks that every index of a TranslationUnit names something. See FactsFile.h.
#include "facts/FactsFile.h"

namespace nvmove::facts {

namespace {

/// Collects the first index that is out of range.
class Checker {
public:
  explicit Checker(const TranslationUnit &Unit) : Unit(Unit) {}

  void text(StringId Id) { check(Id < Unit.Strings.size(), "a text"); }
  void type(TypeId Id) { check(Id == None || Id < Unit.Types.size(), "a type"); }
  void record(RecordId Id) { check(Id == None || Id < Unit.Records.size(), "a record"); }
  void symbol(SymbolId Id) { check(Id == None || Id < Unit.Symbols.size(), "a symbol"); }
  void needType(TypeId Id) { check(Id < Unit.Types.size(), "a type that must be there"); }
  void reg(const Function &F, Register Id) {
    check(Id == None || Id == NullRegister || Id < F.Registers.size(), "a register");
  }
  void check(bool Good, const char *What) {
    if (!Good && !Bad)
      Bad = What;
  }

  const char *Bad = nullptr;

private:
  const TranslationUnit &Unit;
};

/// Calls of void functions and steps that only write have no result.
bool hasResult(Op Code) {
  return Code != Op::Store && Code != Op::CopyObject && Code != Op::Call && Code != Op::Return;
}

bool wantsRecord(Op Code) { return Code == Op::FieldOf || Code == Op::SizeOf; }

void verifyInstruction(Checker &C, const TranslationUnit &Unit, const Function &F,
                       const Instruction &I) {
  C.check(I.Code <= Op::Return, "an operation");
  C.check(I.Region < F.Regions.size(), "a region");
  C.text(I.Where.File);
  C.type(I.Ty);
  C.check(I.Dst < F.Registers.size() || (I.Dst == None && !hasResult(I.Code)), "a result");
  bool NamesSymbol = I.Code == Op::AddressOf || I.Code == Op::Call;
  if (NamesSymbol)
    C.symbol(I.A);
  else
    C.reg(F, I.A);
  C.check(I.Code != Op::AddressOf || I.A != None, "a symbol that must be there");
  if (I.Code != Op::FieldOf)
    C.reg(F, I.B);
  C.check(static_cast<uint64_t>(I.FirstArgument) + I.ArgumentCount <= F.Arguments.size(),
          "an argument");
  if (wantsRecord(I.Code)) {
    C.needType(I.Ty);
    C.check(I.Ty < Unit.Types.size() && Unit.Types[I.Ty].Kind == TypeKind::Record, "a record type");
  }
  if (I.Code == Op::FieldOf && !C.Bad)
    C.check(I.B < Unit.Records[Unit.Types[I.Ty].Inner].Fields.size(), "a field");
  if (I.Code == Op::Cast) {
    C.needType(I.Ty);
    C.check(!C.Bad && Unit.Types[I.Ty].Kind == TypeKind::Pointer, "a pointer type");
  }
  if (I.Code == Op::Call && I.Ty != None && !C.Bad)
    C.check(Unit.Types[I.Ty].Kind == TypeKind::Function, "a function type");
  if (I.Code == Op::Load || I.Code == Op::Store || I.Code == Op::CopyObject)
    C.needType(I.Ty);
  if (I.Code == Op::Load || I.Code == Op::Store)
    C.check(I.A < F.Registers.size(), "an address");
}

void verifyFunction(Checker &C, const TranslationUnit &Unit, const Function &F) {
  C.symbol(F.Symbol);
  C.check(F.Symbol == None || C.Bad || Unit.Symbols[F.Symbol].Kind == SymbolKind::Function,
          "a function's symbol");
  C.type(F.Result);
  C.check(F.ParameterCount <= F.Registers.size(), "a parameter");
  C.check(!F.Regions.empty(), "a body region");
  for (size_t I = 0; I != F.Regions.size(); ++I)
    C.check(I == 0 ? F.Regions[0].Parent == None : F.Regions[I].Parent < I, "an outer region");
  for (TypeId Each : F.Registers)
    C.type(Each);
  for (Register Each : F.Arguments)
    C.reg(F, Each);
  for (const Assignment &Each : F.Assignments) {
    C.check(Each.Record < Unit.Records.size(), "a record");
    C.text(Each.Where.File);
  }
  for (const Instruction &Each : F.Body)
    verifyInstruction(C, Unit, F, Each);
}

/// Names are spelt by following these links, so none may lead back to its beginning. Every link is
/// walked once: what leads to a sound end is sound.
template <typename Thing, typename Next>
bool endsSomewhere(const std::vector<Thing> &Things, Next NextOf) {
  std::vector<size_t> SeenFrom(Things.size(), Things.size());
  for (size_t Start = 0; Start != Things.size(); ++Start)
    for (size_t At = Start; At < Things.size(); At = NextOf(Things[At])) {
      if (SeenFrom[At] == Start)
        return false;
      if (SeenFrom[At] != Things.size())
        break;
      SeenFrom[At] = Start;
    }
  return true;
}

} // namespace

llvm::Error verify(const TranslationUnit &Unit) {
  Checker C(Unit);
  C.check(!Unit.Strings.empty(), "the empty text");
  for (const Type &Each : Unit.Types) {
    C.check(Each.Kind <= TypeKind::Function, "a kind of type");
    C.text(Each.Spelling);
    if (Each.Kind == TypeKind::Record)
      C.check(Each.Inner < Unit.Records.size(), "a record");
    else
      C.type(Each.Inner);
    if (Each.Kind == TypeKind::Pointer || Each.Kind == TypeKind::Array)
      C.needType(Each.Inner);
  }
  for (const Record &Each : Unit.Records) {
    C.text(Each.Name);
    C.text(Each.Where.File);
    C.record(Each.Parent);
    for (StringId Alias : Each.Aliases)
      C.text(Alias);
    for (const Field &Member : Each.Fields) {
      C.text(Member.Name);
      C.needType(Member.Type);
    }
  }
  for (const Symbol &Each : Unit.Symbols) {
    C.check(Each.Kind <= SymbolKind::Local, "a kind of symbol");
    C.text(Each.Name);
    C.text(Each.Where.File);
    C.needType(Each.Type);
    if (Each.Kind == SymbolKind::Function && !C.Bad)
      C.check(Unit.Types[Each.Type].Kind == TypeKind::Function, "a function's type");
  }
  C.check(endsSomewhere(Unit.Types,
                        [](const Type &T) {
                          return T.Kind == TypeKind::Pointer || T.Kind == TypeKind::Array ? T.Inner
                                                                                          : None;
                        }),
          "an inner type");
  C.check(endsSomewhere(Unit.Records, [](const Record &R) { return R.Parent; }), "an outer record");
  for (const Function &Each : Unit.Functions)
    verifyFunction(C, Unit, Each);
  if (C.Bad)
    return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                   "an index of %s is out of range", C.Bad);
  return llvm::Error::success();
}

} // namespace nvmove::facts
