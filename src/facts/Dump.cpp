// The facts as text, for people and tests. See FactsFile.h.
#include "facts/FactsFile.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::facts {

namespace {

constexpr const char *OpNames[] = {"address", "copy", "field", "element", "offset",
                                   "wander",  "cast", "load",  "store",   "copyobject",
                                   "sizeof",  "call", "return"};

/// Pointers to pointers, records in records: real ones nest a handful deep, made-up facts without
/// end.
constexpr unsigned NestingMax = 64;

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
    std::string Before, After;
    for (unsigned Steps = 0; Id != None; ++Steps) {
      const Type &T = Unit.Types[Id];
      bool Outer = T.Kind == TypeKind::Pointer || T.Kind == TypeKind::Array;
      if (!Outer)
        return Before + coreName(T) + After;
      if (Steps == NestingMax)
        return Before + "..." + After;
      if (T.ConstPointee)
        Before += "const ";
      After.insert(0, T.Kind == TypeKind::Pointer ? " *" : " []");
      Id = T.Inner;
    }
    return "?";
  }

  std::string coreName(const Type &T) const {
    if (T.Kind == TypeKind::Record)
      return recordName(T.Inner);
    return T.Kind == TypeKind::Void ? "void" : Unit.text(T.Spelling);
  }

  std::string recordName(RecordId Id) const {
    std::string Before, After;
    for (unsigned Steps = 0; Id != None && Steps != NestingMax; ++Steps) {
      const Record &Named = Unit.Records[Id];
      Before += (Steps ? " in " : "") + std::string(Named.Union ? "union " : "struct ");
      if (Named.Name)
        return Before + Unit.text(Named.Name) + After;
      Before += "(unnamed";
      After += ")";
      Id = Named.Parent;
    }
    return Before + (Id == None ? "" : " in ...") + After;
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
       << (Each.Formats ? " formats" : "") << (Each.Constant ? " const" : "") << " : "
       << typeName(Each.Type);
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
    if (I.Code == Op::Return && I.Implicit)
      OS << " " << I.Delta;
    else if (I.Delta || I.Code == Op::FieldOf)
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
