// Notes about units that were chosen: see Doubts.h.
#include "solve/answer/Doubts.h"

#include "facts/FactsFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nvmove::solve {

namespace {

using facts::Symbol;
using facts::TranslationUnit;

constexpr size_t DoubtsMax = 5;
constexpr llvm::StringLiteral ForTwo = ", for two programs as it seems; this answer takes the "
                                       "first (give the sources of one program only)";

/// What a unit defines for others, by name.
llvm::StringMap<const Symbol *> strongFunctions(const TranslationUnit &Unit) {
  llvm::StringMap<const Symbol *> Found;
  for (const Symbol &Each : Unit.Symbols)
    if (Each.Kind == facts::SymbolKind::Function && Each.External && Each.Defined && !Each.Weak)
      Found[Unit.text(Each.Name)] = &Each;
  return Found;
}

std::string place(const TranslationUnit &Unit, const Symbol &Symbol) {
  return Unit.text(Symbol.Where.File) + ":" + std::to_string(Symbol.Where.Line);
}

/// The note about \p Choice, or "" when the load runs through nothing that both units define.
std::string noteOf(const Program &P, const UnitChoice &Choice,
                   const std::set<FunctionId> &Visited) {
  const TranslationUnit &Taken = P.units()[Choice.Taken], &Other = P.units()[Choice.Other];
  llvm::StringMap<const Symbol *> Others = strongFunctions(Other);
  std::string Name, Places;
  size_t More = 0;
  for (FunctionId Id : Visited) {
    const FunctionInfo &F = P.function(Id);
    if (&F.unit() != &Taken || !F.symbol().External || F.symbol().Weak)
      continue;
    auto Known = Others.find(F.Name);
    if (Known == Others.end())
      continue;
    std::string Here = place(Taken, F.symbol()), There = place(Other, *Known->second);
    bool OneFile = Taken.MainFile == Other.MainFile;
    if (Here == There && !OneFile)
      continue; // It is written in a header.
    More += !Name.empty();
    if (!Name.empty())
      continue;
    Name = F.Name;
    Places = OneFile ? Taken.Output + " and " + Other.Output : Here + " and " + There;
  }
  if (Name.empty() || (Taken.MainFile == Other.MainFile && sayTheSame(Taken, Other)))
    return "";
  return "'" + Name + "' " + (More ? "(and " + std::to_string(More) + " more) " : "") +
         "is defined by " + Places +
         (Choice.Nearer ? "; this answer takes the first, whose file lies nearer" : ForTwo.str());
}

} // namespace

bool sayTheSame(const TranslationUnit &A, const TranslationUnit &B) {
  auto WithoutOutput = [](TranslationUnit Unit) {
    Unit.Output.clear();
    return facts::serialise(Unit);
  };
  return WithoutOutput(A) == WithoutOutput(B);
}

void noteDoubts(const Program &P, const std::set<FunctionId> &Visited, ScanResult &Result) {
  for (const LinkDoubt &Each : llvm::ArrayRef(P.doubts()).take_front(DoubtsMax))
    Result.Notes.push_back("'" + Each.Variable + "' is defined differently by " + Each.Taken +
                           " and " + Each.Other + ForTwo.str());
  Result.Incomplete |= !P.doubts().empty();
  std::vector<std::string> Notes;
  for (const UnitChoice &Each : P.choices()) {
    std::string Note = noteOf(P, Each, Visited);
    if (Note.empty() || llvm::is_contained(Notes, Note))
      continue;
    Result.Incomplete |= !Each.Nearer;
    Notes.push_back(std::move(Note));
  }
  Notes.resize(std::min(Notes.size(), DoubtsMax));
  llvm::move(Notes, std::back_inserter(Result.Notes));
}

} // namespace nvmove::solve
