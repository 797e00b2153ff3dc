// Chooses the translation units of one program. See Program.h.
//
// An external function that two units define and others call tells two programs apart. Functions
// that nobody calls by name do not (but for main): they are the entry points of plugins, and every
// plugin has them. Variables do when they are made of different records; a tentative definition may
// be repeated. Units needed for one reading of a name only are taken before the ones that have a
// rival; of several that define a variable, one whose record is the one that was declared. Where
// units that say different things about a variable lie equally near, a doubt is noted; of units that
// define a function each choice is, for what comes of it shows only later.
#include "solve/program/Program.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <map>

namespace nvmove::solve {

namespace {

class Linker {
public:
  explicit Linker(const std::vector<facts::TranslationUnit> &Units)
      : Units(Units), Chosen(Units.size()), Rejected(Units.size()) {
    for (uint32_t I = 0; I != Units.size(); ++I)
      for (const facts::Symbol &Symbol : Units[I].Symbols) {
        if (!Symbol.External)
          continue;
        const std::string &Name = Units[I].text(Symbol.Name);
        if (Symbol.Defined)
          Definers[Name].push_back({I, &Symbol});
        else
          Users[Name].push_back(I);
      }
  }

  void take(uint32_t Unit) {
    if (Chosen[Unit])
      return;
    Chosen[Unit] = true;
    Fresh.push_back(Unit);
    forEachStrong(Unit, [&](const std::string &Name) {
      auto [It, New] = Defined.try_emplace(Name, Unit);
      if (!New) // A load or save function is in it.
        Choices.push_back({It->second, Unit, false});
    });
    forEachVariable(Unit, [&](const std::string &Name, const facts::Symbol &Symbol) {
      Variables.try_emplace(Name, Declaration{Unit, &Symbol});
    });
  }

  std::vector<LinkDoubt> doubts() const { return Doubts; }
  std::vector<UnitChoice> choices() const { return Choices; }

  std::vector<bool> run() {
    do {
      closeForward();
    } while (takeUser());
    return Chosen;
  }

private:
  template <typename Action> void forEachStrong(uint32_t Unit, Action Do) {
    for (const facts::Symbol &Symbol : Units[Unit].Symbols)
      if (Symbol.External && Symbol.Defined && !Symbol.Weak &&
          Symbol.Kind == facts::SymbolKind::Function) {
        const std::string &Name = Units[Unit].text(Symbol.Name);
        if (Name == "main" || Users.count(Name))
          Do(Name);
      }
  }

  struct Declaration {
    uint32_t Unit = None;
    const facts::Symbol *Symbol = nullptr;
  };

  /// Variables that \p Unit defines and other units may see.
  template <typename Action> void forEachVariable(uint32_t Unit, Action Do) {
    for (const facts::Symbol &Symbol : Units[Unit].Symbols)
      if (Symbol.External && Symbol.Defined && !Symbol.Weak && Symbol.Type != None &&
          Symbol.Kind == facts::SymbolKind::Global)
        Do(Units[Unit].text(Symbol.Name), Symbol);
  }

  const facts::Record *recordOf(Declaration Of) const {
    const facts::TranslationUnit &Unit = Units[Of.Unit];
    const facts::Type *At = Of.Symbol->Type == None ? nullptr : &Unit.Types[Of.Symbol->Type];
    while (At && (At->Kind == facts::TypeKind::Pointer || At->Kind == facts::TypeKind::Array))
      At = &Unit.Types[At->Inner];
    return At && At->Kind == facts::TypeKind::Record ? &Unit.Records[At->Inner] : nullptr;
  }

  /// True when two declarations are not of one variable: only one is made of records, or their
  /// records stand in different places and have other names or members.
  bool differ(Declaration A, Declaration B) const {
    const facts::Record *One = recordOf(A), *Other = recordOf(B);
    if (!One || !Other)
      return One != Other;
    auto Text = [&](Declaration Of, facts::StringId Id) { return Units[Of.Unit].text(Id); };
    if (One->Where.Line == Other->Where.Line &&
        Text(A, One->Where.File) == Text(B, Other->Where.File))
      return false;
    if (Text(A, One->Name) != Text(B, Other->Name))
      return true;
    if (!One->Complete || !Other->Complete)
      return false;
    bool Alike = One->Size == Other->Size && One->Fields.size() == Other->Fields.size();
    for (size_t I = 0; Alike && I != One->Fields.size(); ++I)
      Alike = One->Fields[I].Offset == Other->Fields[I].Offset &&
              Text(A, One->Fields[I].Name) == Text(B, Other->Fields[I].Name);
    return !Alike;
  }

  bool conflicts(uint32_t Unit) {
    bool Twice = false;
    forEachStrong(Unit, [&](const std::string &Name) { Twice |= Defined.count(Name) != 0; });
    forEachVariable(Unit, [&](const std::string &Name, const facts::Symbol &Symbol) {
      if (auto It = Variables.find(Name); It != Variables.end())
        Twice |= differ(It->second, {Unit, &Symbol});
    });
    return Twice;
  }

  /// Folders between the objects of two units (a file may be compiled for several programs), then
  /// between their sources.
  std::pair<unsigned, unsigned> distance(uint32_t A, uint32_t B) const {
    return {apart(Units[A].Output, Units[B].Output), apart(Units[A].MainFile, Units[B].MainFile)};
  }

  static unsigned apart(llvm::StringRef A, llvm::StringRef B) {
    llvm::StringRef Left = llvm::sys::path::parent_path(A);
    llvm::StringRef Right = llvm::sys::path::parent_path(B);
    size_t Common = 0;
    while (Common < Left.size() && Common < Right.size() && Left[Common] == Right[Common])
      ++Common;
    return static_cast<unsigned>(Left.size() + Right.size() - 2 * Common);
  }

  /// Takes every unit that defines something missing.
  void closeForward() {
    std::vector<Declaration> Contested;
    while (!Fresh.empty() || !Contested.empty()) {
      if (Fresh.empty()) {
        Declaration Wanted = Contested.back();
        Contested.pop_back();
        resolve(Wanted, /*Decide=*/true);
        continue;
      }
      uint32_t Unit = Fresh.back();
      Fresh.pop_back();
      for (const facts::Symbol &Symbol : Units[Unit].Symbols)
        if (Symbol.External && !Symbol.Defined && !resolve({Unit, &Symbol}, /*Decide=*/false))
          Contested.push_back({Unit, &Symbol});
    }
  }

  /// False when several units could define what is \p Wanted and \p Decide does not ask to pick
  /// one.
  bool resolve(Declaration Wanted, bool Decide) {
    auto It = Definers.find(Units[Wanted.Unit].text(Wanted.Symbol->Name));
    if (It == Definers.end())
      return true;
    bool IsVariable = Wanted.Symbol->Kind == facts::SymbolKind::Global;
    std::vector<Declaration> Candidates;
    for (const Declaration &Each : It->second) {
      if (Chosen[Each.Unit])
        return true;
      if (!conflicts(Each.Unit))
        Candidates.push_back(Each);
    }
    auto Other = [&](const Declaration &Each) { return IsVariable && differ(Each, Wanted); };
    if (!llvm::all_of(Candidates, Other))
      llvm::erase_if(Candidates, Other);
    if (Candidates.empty())
      return true;
    if (Candidates.size() > 1 && !Decide)
      return false;
    auto Far = [&](const Declaration &Each) { return distance(Each.Unit, Wanted.Unit); };
    Declaration Best = *llvm::min_element(
        Candidates, [&](const auto &A, const auto &B) { return Far(A) < Far(B); });
    for (const Declaration &Each : Candidates)
      if (!IsVariable && Each.Unit != Best.Unit)
        Choices.push_back({Best.Unit, Each.Unit, Far(Each) != Far(Best)});
      else if (IsVariable && differ(Each, Best) && Far(Each) == Far(Best))
        Doubts.push_back({It->first, Units[Best.Unit].MainFile, Units[Each.Unit].MainFile});
    take(Best.Unit);
    return true;
  }

  /// Takes the unit that uses most of what is there already; false when none is left.
  bool takeUser() {
    std::map<uint32_t, unsigned> Uses;
    for (const auto &[Name, Unit] : Defined)
      if (auto It = Users.find(Name); It != Users.end())
        for (uint32_t Unit : It->second)
          if (!Chosen[Unit] && !Rejected[Unit])
            ++Uses[Unit];
    uint32_t Best = None;
    for (auto [Unit, Count] : Uses) {
      if (conflicts(Unit))
        Rejected[Unit] = true;
      else if (Best == None || Count > Uses[Best])
        Best = Unit;
    }
    if (Best == None)
      return false;
    take(Best);
    return true;
  }

  const std::vector<facts::TranslationUnit> &Units;
  std::vector<bool> Chosen, Rejected;
  std::vector<uint32_t> Fresh;
  std::map<std::string, std::vector<Declaration>> Definers;
  std::map<std::string, std::vector<uint32_t>> Users;
  std::map<std::string, uint32_t> Defined;      ///< Functions, and the first unit of each.
  std::map<std::string, Declaration> Variables; ///< Defined by what was taken.
  std::vector<LinkDoubt> Doubts;
  std::vector<UnitChoice> Choices;
};

} // namespace

void Program::choose(llvm::ArrayRef<uint32_t> Seeds) {
  Linker Links(Units);
  for (uint32_t Seed : Seeds)
    Links.take(Seed);
  Chosen = Links.run();
  Doubts = Links.doubts();
  Choices = Links.choices();
}

} // namespace nvmove::solve
