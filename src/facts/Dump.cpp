// The facts as text, for people and tests. See FactsFile.h.
#include "facts/FactsFile.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::facts {

namespace {

constexpr const char *OpNames[] = {"address", "copy", "field", "element", "offset",
                                   "wander",  "cast", "load",  "store",   "copyobject",
                                   "sizeof",  "call", "return"};

class Dumper {
public:
  Dumper(const TranslationUnit &Unit, llvm::raw_ostream &OS) : Unit(Unit), OS(OS) {}

  void run() {
    OS << "unit " << Unit.MainFile << " lines " << Unit.Lines << "\n";
    for (const Record &Each : Unit.Records)
      record(Each);
    for (const Symbol &Each : Unit.Symbols)
      if (Each.Kind != SymbolKind::Local)
        symbol(Each);
    for (const Function &Each : Unit.Functions)
      function(Each);
  }

private:
  std::string typeName(TypeId Id) const {
    if (Id == None)
      return "?";
    const Type &T = Unit.Types[Id];
    switch (T.Kind) {
    case TypeKind::Void:
      return "void";
    case TypeKind::Scalar:
    case TypeKind::Function:
      return Unit.text(T.Spelling);
    case TypeKind::Pointer:
      return (T.ConstPointee ? "const " : "") + typeName(T.Inner) + " *";
    case TypeKind::Array:
      return typeName(T.Inner) + " []";
    case TypeKind::Record:
      return recordName(T.Inner);
    }
    return "?";
  }

  std::string recordName(RecordId Id) const {
    const Record &Named = Unit.Records[Id];
    std::string Kind = Named.Union ? "union " : "struct ";
    if (Named.Name)
      return Kind + Unit.text(Named.Name);
    return Kind + "(unnamed" + (Named.Parent != None ? " in " + recordName(Named.Parent) : "") +
           ")";
  }

  void place(const Location &Where) {
    if (Where.Line)
      OS << " @" << Where.Line << ":" << Where.Column;
  }

  void record(const Record &Each) {
    OS << recordName(static_cast<RecordId>(&Each - Unit.Records.data())) << " size " << Each.Size
       << (Each.System ? " system" : "") << (Each.Complete ? "" : " incomplete");
    for (StringId Alias : Each.Aliases)
      OS << " alias " << Unit.text(Alias);
    place(Each.Where);
    OS << "\n";
    for (const Field &Member : Each.Fields)
      OS << "  +" << Member.Offset << " " << Unit.text(Member.Name) << " : "
         << typeName(Member.Type) << "\n";
  }

  void symbol(const Symbol &Each) {
    OS << (Each.Kind == SymbolKind::Function ? "function " : "global ") << Unit.text(Each.Name)
       << (Each.External ? "" : " static") << (Each.Defined ? " defined" : "")
       << (Each.Weak ? " weak" : "") << (Each.NoReturn ? " noreturn" : "")
       << (Each.Formats ? " formats" : "") << " : " << typeName(Each.Type);
    place(Each.Where);
    OS << "\n";
  }

  void reg(Register R) {
    if (R == None)
      OS << " _";
    else if (R == NullRegister)
      OS << " null";
    else
      OS << " r" << R;
  }

  void function(const Function &Each) {
    OS << "body "
       << (Each.Symbol == None ? "(static initialisers)"
                               : Unit.text(Unit.Symbols[Each.Symbol].Name))
       << " parameters " << Each.ParameterCount << "\n";
    for (const Assignment &A : Each.Assignments) {
      OS << "  assigns " << recordName(A.Record) << (A.ByLibrary ? " by-library" : "")
         << (A.ByInitialiser ? " by-initialiser" : "");
      place(A.Where);
      OS << "\n";
    }
    for (const Instruction &I : Each.Body)
      instruction(Each, I);
  }

  void instruction(const Function &F, const Instruction &I) {
    OS << "  [" << I.Region << "]";
    if (I.Dst != None) {
      reg(I.Dst);
      OS << " =";
    }
    OS << " " << OpNames[static_cast<unsigned>(I.Code)];
    if (I.Code == Op::AddressOf || (I.Code == Op::Call && I.A != None))
      OS << " " << Unit.text(Unit.Symbols[I.A].Name);
    else if (I.Code != Op::Call && I.A != None)
      reg(I.A);
    if (I.Code == Op::FieldOf)
      OS << " ." << Unit.text(Unit.Records[Unit.Types[I.Ty].Inner].Fields[I.B].Name);
    else if (I.B != None || I.Code == Op::Store)
      reg(I.B);
    if (I.Code == Op::Call) {
      OS << " (";
      for (unsigned A = 0; A != I.ArgumentCount; ++A)
        reg(F.Arguments[I.FirstArgument + A]);
      OS << " )";
    }
    if (I.Delta || I.Code == Op::FieldOf)
      OS << " +" << I.Delta;
    if (I.Ty != None)
      OS << " : " << typeName(I.Ty);
    place(I.Where);
    OS << "\n";
  }

  const TranslationUnit &Unit;
  llvm::raw_ostream &OS;
};

} // namespace

std::string dump(const TranslationUnit &Unit) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  Dumper(Unit, OS).run();
  return Text;
}

} // namespace nvmove::facts
