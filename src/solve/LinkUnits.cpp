// Chooses the translation units of one program. See Program.h.
//
// An external function that two units define and others call tells two programs apart. Functions
// that nobody calls by name do not (but for main): they are the entry points of plugins, and every
// plugin has them. Neither do variables, since tentative definitions may be repeated. Units needed
// for one reading of a name only are taken before the ones that have a rival.
#include "solve/Program.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <map>
#include <set>

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
        (Symbol.Defined ? Definers : Users)[Name].push_back(I);
      }
  }

  void take(uint32_t Unit) {
    if (Chosen[Unit])
      return;
    Chosen[Unit] = true;
    Fresh.push_back(Unit);
    forEachStrong(Unit, [&](const std::string &Name) { Defined.insert(Name); });
  }

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

  bool conflicts(uint32_t Unit) {
    bool Twice = false;
    forEachStrong(Unit, [&](const std::string &Name) { Twice |= Defined.count(Name) != 0; });
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
    std::vector<std::pair<std::string, uint32_t>> Contested;
    while (!Fresh.empty() || !Contested.empty()) {
      if (Fresh.empty()) {
        auto [Name, Wanting] = Contested.back();
        Contested.pop_back();
        resolve(Name, Wanting, /*Decide=*/true);
        continue;
      }
      uint32_t Unit = Fresh.back();
      Fresh.pop_back();
      for (const facts::Symbol &Symbol : Units[Unit].Symbols)
        if (Symbol.External && !Symbol.Defined &&
            !resolve(Units[Unit].text(Symbol.Name), Unit, /*Decide=*/false))
          Contested.emplace_back(Units[Unit].text(Symbol.Name), Unit);
    }
  }

  /// False when several units could define \p Name and \p Decide does not ask to pick one.
  bool resolve(const std::string &Name, uint32_t Wanting, bool Decide) {
    auto It = Definers.find(Name);
    if (It == Definers.end())
      return true;
    std::vector<uint32_t> Candidates;
    for (uint32_t Unit : It->second) {
      if (Chosen[Unit])
        return true;
      if (!conflicts(Unit))
        Candidates.push_back(Unit);
    }
    if (Candidates.empty())
      return true;
    if (Candidates.size() > 1 && !Decide)
      return false;
    take(*llvm::min_element(Candidates, [&](uint32_t A, uint32_t B) {
      return distance(A, Wanting) < distance(B, Wanting);
    }));
    return true;
  }

  /// Takes the unit that uses most of what is there already; false when none is left.
  bool takeUser() {
    std::map<uint32_t, unsigned> Uses;
    for (const std::string &Name : Defined)
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
  std::map<std::string, std::vector<uint32_t>> Definers, Users;
  std::set<std::string> Defined;
};

} // namespace

void Program::choose(llvm::ArrayRef<uint32_t> Seeds) {
  Linker Links(Units);
  for (uint32_t Seed : Seeds)
    Links.take(Seed);
  Chosen = Links.run();
}

} // namespace nvmove::solve
