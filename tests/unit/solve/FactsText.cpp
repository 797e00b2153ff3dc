// The reader. See FactsText.h.
#include "FactsText.h"
#include "FactsWords.h"

#include "facts/FactsFile.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove {

using namespace facts;

namespace {

using Names = std::map<std::string, Register>;

class Reader : Words {
public:
  explicit Reader(llvm::StringRef Text) {
    Unit.MainFile = "text.c";
    Unit.Strings = {"", Unit.MainFile};
    Unit.Functions.emplace_back();
    Unit.Functions.back().Regions.emplace_back();
    for (llvm::StringRef Each : llvm::split(Text, '\n')) {
      read(Each);
      if (!done())
        topLevel();
    }
    if (llvm::Error E = verify(Unit))
      fail(llvm::toString(std::move(E)));
  }

  TranslationUnit Unit;
  std::map<std::string, Names> Registers;

private:
  // Types.
  TypeId intern(const Type &Made) {
    for (TypeId Id = 0; Id != Unit.Types.size(); ++Id)
      if (const Type &T = Unit.Types[Id];
          T.Kind == Made.Kind && T.ConstPointee == Made.ConstPointee && T.Inner == Made.Inner &&
          T.Spelling == Made.Spelling && (T.Kind == TypeKind::Record || T.Size == Made.Size))
        return Id;
    Unit.Types.push_back(Made);
    return static_cast<TypeId>(Unit.Types.size() - 1);
  }
  StringId text(const std::string &Wanted) {
    auto It = llvm::find(Unit.Strings, Wanted);
    StringId Id = static_cast<StringId>(It - Unit.Strings.begin());
    if (It == Unit.Strings.end())
      Unit.Strings.push_back(Wanted);
    return Id;
  }
  TypeId recordType(const std::string &Name) {
    for (RecordId Id = 0; Id != Unit.Records.size(); ++Id)
      if (Unit.text(Unit.Records[Id].Name) == Name)
        return intern({TypeKind::Record, false, Id, Unit.Records[Id].Size, 0});
    return None;
  }
  TypeId base(const std::string &Name) {
    static const std::map<std::string, std::pair<std::string, uint64_t>> Scalars = {
        {"char", {"char", 1}},
        {"int", {"int", 4}},
        {"long", {"long", 8}},
        {"ulong", {"unsigned long", 8}}};
    if (Name == "void")
      return intern({TypeKind::Void, false, None, 0, 0});
    if (Name == "code")
      return intern({TypeKind::Function, false, None, 0, text("code")});
    auto It = Scalars.find(Name);
    if (It == Scalars.end())
      return recordType(Name);
    return intern({TypeKind::Scalar, false, None, It->second.second, text(It->second.first)});
  }
  bool isType() { return peek() == "const" || base(peek()) != None; }
  TypeId type() {
    bool Const = take("const");
    std::string Name = word();
    TypeId Id = base(Name);
    if (Id == None)
      fail("'" + Name + "' is no type");
    while (true) {
      if (take("*")) {
        Id = intern({TypeKind::Pointer, Const, Id, 8, 0});
        Const = false;
      } else if (peek() == "[" && peek(1) != "]") {
        need("[");
        uint64_t Count = std::stoull(word());
        need("]");
        Id = intern({TypeKind::Array, false, Id, Count * Unit.Types[Id].Size, 0});
      } else {
        return Id;
      }
    }
  }

  // Declarations.
  Location here() const { return {1, number(), 1}; }
  SymbolId symbol(SymbolKind Kind, const std::string &Name) {
    for (SymbolId Id = 0; Id != Unit.Symbols.size(); ++Id)
      if (Unit.Symbols[Id].Kind != SymbolKind::Local && Unit.text(Unit.Symbols[Id].Name) == Name)
        return Id;
    Symbol Made;
    Made.Kind = Kind;
    Made.External = true;
    Made.Name = text(Name);
    Made.Type = base("code");
    Made.Where = here();
    Unit.Symbols.push_back(Made);
    return static_cast<SymbolId>(Unit.Symbols.size() - 1);
  }
  void topLevel() {
    if (Open)
      return line();
    if (take("struct"))
      return record();
    if (take("noreturn"))
      Unit.Symbols[symbol(SymbolKind::Function, word())].NoReturn = true;
    else if (take("formats"))
      Unit.Symbols[symbol(SymbolKind::Function, word())].Formats = true;
    else if (peek() == "global" || peek(1) == "global")
      global();
    else if (take("start"))
      open(Unit.Functions.front(), None, "");
    else
      function();
  }
  void global() {
    bool Constant = take("const");
    need("global");
    TypeId Id = type();
    Symbol &Made = Unit.Symbols[symbol(SymbolKind::Global, word())];
    Made.Type = Id;
    Made.Defined = true;
    Made.Constant = Constant;
  }
  void record() {
    std::string Name = word();
    if (recordType(Name) == None) {
      Unit.Records.emplace_back();
      Unit.Records.back().Name = text(Name);
      Unit.Records.back().Where = here();
    }
    TypeId Itself = recordType(Name);
    if (take(";"))
      return;
    need("{");
    Record Made = Unit.Records[Unit.Types[Itself].Inner];
    Made.Complete = true;
    while (!take("}")) {
      TypeId Id = type();
      uint64_t Offset = llvm::alignTo(Made.Size, 8);
      Made.Fields.push_back({text(word()), Id, Offset});
      Made.Size = Offset + Unit.Types[Id].Size;
      need(";");
    }
    Made.Size = Unit.Types[Itself].Size = llvm::alignTo(Made.Size, 8);
    Unit.Records[Unit.Types[Itself].Inner] = Made;
  }
  void function() {
    TypeId Result = type();
    std::string Name = word();
    SymbolId Id = symbol(SymbolKind::Function, Name);
    Function Made;
    Made.Regions.emplace_back();
    Made.Result = Result;
    open(Made, Id, Name);
    std::string Signature = std::to_string(Result);
    need("(");
    while (!take(")")) {
      if (take("...")) {
        Now.Variadic = true;
        define("...", None);
        continue;
      }
      TypeId Parameter = type();
      define(word(), Parameter);
      ++Now.ParameterCount;
      Signature += " " + std::to_string(Parameter);
      take(",");
    }
    need("{");
    Unit.Symbols[Id].Defined = true;
    Unit.Symbols[Id].Type = intern({TypeKind::Function, false, None, 0, text(Signature)});
  }
  void open(Function Made, SymbolId Id, const std::string &Name) {
    Now = std::move(Made);
    Now.Symbol = Id;
    Called = Name;
    Region = 0;
    Open = true;
    Locals.clear();
  }

  // Instructions.
  Names &names() { return Registers[Called]; }
  Register define(const std::string &Name, TypeId Id) {
    auto [It, New] = names().try_emplace(Name, static_cast<Register>(Now.Registers.size()));
    if (New)
      Now.Registers.push_back(Id);
    return It->second;
  }
  Register value() {
    std::string Name = word();
    auto It = names().find(Name);
    if (Name != "null" && It == names().end())
      fail("'" + Name + "' is no value");
    return Name == "null" ? NullRegister : It->second;
  }
  TypeId typeOf(Register R) const { return R < Now.Registers.size() ? Now.Registers[R] : None; }

  TypeId orGeneric(TypeId Id) {
    return Id == None ? intern({TypeKind::Pointer, false, base("void"), 8, 0}) : Id;
  }

  void line() {
    if (take("}"))
      return close();
    if (take("if") || take("loop")) {
      RegionKind Kind = first() == "if" ? RegionKind::Branch : RegionKind::Loop;
      Now.Regions.push_back({Kind, Region});
      Region = static_cast<uint32_t>(Now.Regions.size() - 1);
      return need("{");
    }
    if (take("local")) {
      Symbol Made;
      Made.Kind = SymbolKind::Local;
      Made.Type = type();
      Made.Name = text(word());
      Unit.Symbols.push_back(Made);
      Locals[Unit.text(Made.Name)] = static_cast<SymbolId>(Unit.Symbols.size() - 1);
      return;
    }
    Instruction I;
    I.Region = Region;
    I.Where = here();
    instruction(I);
    if (!done())
      fail("'" + peek() + "' is too much");
    Now.Body.push_back(I);
  }
  void close() {
    Open = Region != 0;
    if (Open)
      Region = Now.Regions[Region].Parent;
    else if (Now.Symbol == None)
      Unit.Functions.front() = Now;
    else
      Unit.Functions.push_back(Now);
  }
  void instruction(Instruction &I) {
    if (take("return")) {
      I.Code = Op::Return;
      I.A = done() ? None : value();
    } else if (take("*")) {
      store(I);
    } else if (isType() || peek(1) == "=") {
      TypeId Id = isType() ? type() : None;
      std::string Name = word();
      need("=");
      source(I, Id);
      I.Dst = define(Name, Id);
    } else {
      call(I);
      I.Implicit = true;
    }
  }
  void store(Instruction &I) {
    I.Code = Op::Store;
    I.A = value();
    need("=");
    if (take("*"))
      I.Code = Op::CopyObject;
    I.B = value();
    I.Ty = take(":") ? type() : orGeneric(typeOf(I.B));
  }
  /// What stands on the right of "=": a value of type \p Id.
  void source(Instruction &I, TypeId Id) {
    if (take("&"))
      return address(I);
    if (take("sizeof")) {
      I.Code = Op::SizeOf;
      I.Ty = type();
    } else if (take("*")) {
      I.Code = Op::Load;
      I.A = value();
      I.Ty = orGeneric(Id);
    } else if (peek(1) == "(" || peek(1) == "*") {
      call(I);
    } else if (take("(")) {
      I.Code = Op::Cast;
      I.Implicit = take("implicit");
      I.Ty = type();
      need(")");
      I.A = value();
    } else {
      I.A = value();
      bool Back = take("-");
      if (!Back && !take("+"))
        return;
      I.Code = take("?") ? Op::Wander : Op::Offset;
      if (I.Code == Op::Offset)
        I.Delta = (Back ? -1 : 1) * std::stoll(word());
    }
  }
  void address(Instruction &I) {
    if (peek(1) == "[") {
      I.Code = Op::ElementOf;
      I.A = value();
      need("[");
      return need("]");
    }
    if (peek(1) != "->") {
      I.Code = Op::AddressOf;
      std::string Name = word();
      auto It = Locals.find(Name);
      I.A = It == Locals.end() ? symbol(SymbolKind::Function, Name) : It->second;
      return;
    }
    I.Code = Op::FieldOf;
    I.A = value();
    TypeId Pointer = typeOf(I.A);
    if (Pointer == None || Unit.Types[Pointer].Kind != TypeKind::Pointer)
      fail("the type of the record is not known");
    need("->");
    std::string Name = word();
    I.Ty = Unit.Types[Pointer].Inner;
    const std::vector<Field> &Fields = Unit.Records[Unit.Types[I.Ty].Inner].Fields;
    auto It = llvm::find_if(Fields, [&](const Field &F) { return Unit.text(F.Name) == Name; });
    if (It == Fields.end())
      fail("no field '" + Name + "'");
    I.B = static_cast<uint32_t>(It - Fields.begin());
    I.Delta = static_cast<int64_t>(It->Offset);
  }
  void call(Instruction &I) {
    I.Code = Op::Call;
    I.Ty = base("code");
    if (take("(")) {
      need("*");
      I.B = value();
      need(")");
    } else {
      I.A = symbol(SymbolKind::Function, word());
    }
    need("(");
    I.FirstArgument = static_cast<uint32_t>(Now.Arguments.size());
    while (!take(")")) {
      Now.Arguments.push_back(value());
      ++I.ArgumentCount;
      take(",");
    }
  }

  bool Open = false; ///< In a body.
  Function Now;
  std::string Called;
  uint32_t Region = 0;
  std::map<std::string, SymbolId> Locals;
};

} // namespace

FactsText::FactsText(llvm::StringRef Text) {
  Reader Read(Text);
  Registers = Read.Registers;
  std::vector<TranslationUnit> Units;
  Units.push_back(std::move(Read.Unit));
  P = std::make_unique<solve::Program>(std::move(Units), 0u);
}

template <typename Infos> static uint32_t find(const Infos &All, llvm::StringRef Name) {
  auto It = llvm::find_if(All, [&](const auto &Each) { return Each.Name == Name; });
  if (It == All.end())
    llvm::report_fatal_error("the facts name no '" + Name + "'");
  return static_cast<uint32_t>(It - All.begin());
}

solve::FunctionId FactsText::function(llvm::StringRef Name) const {
  return find(P->functions(), Name);
}

solve::RecordKey FactsText::record(llvm::StringRef Name) const { return find(P->records(), Name); }

solve::GlobalId FactsText::global(llvm::StringRef Name) const { return find(P->globals(), Name); }

Register FactsText::reg(llvm::StringRef Function, llvm::StringRef Name) const {
  return Registers.at(Function.str()).at(Name.str());
}

std::string FactsText::nameOf(solve::FunctionId In, Register R) const {
  for (const auto &[Name, Each] : Registers.at(P->function(In).Name))
    if (Each == R)
      return Name;
  return "";
}

std::string FactsText::joined(const std::set<std::string> &Names) { return llvm::join(Names, " "); }

} // namespace nvmove
