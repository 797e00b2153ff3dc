// See Definitions.h.
#include "solve/answer/Definitions.h"

#include "facts/FactsFile.h"
#include "solve/answer/Doubts.h"
#include "solve/answer/Solve.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace nvmove::solve {

using facts::TranslationUnit;

char UnknownFunction::ID = 0;

void UnknownFunction::log(llvm::raw_ostream &OS) const {
  OS << (Ambiguous ? "several functions are named '" : "no function is named '") << Name << "'";
}

std::error_code UnknownFunction::convertToErrorCode() const {
  return std::make_error_code(std::errc::invalid_argument);
}

namespace {

/// How far the object of a unit lies from its source.
size_t foldersApart(const TranslationUnit &Unit) {
  llvm::StringRef Object = llvm::sys::path::parent_path(Unit.Output);
  llvm::StringRef Source = llvm::sys::path::parent_path(Unit.MainFile);
  size_t Common = 0;
  while (Common < Object.size() && Common < Source.size() && Object[Common] == Source[Common])
    ++Common;
  return Object.size() + Source.size() - 2 * Common;
}

/// The same file, compiled for several programs: the one whose object lies with it comes first. Of
/// objects in one folder the shorter name: "server-load.o" has a variant "server_debug-load.o".
void rival(const std::vector<TranslationUnit> &Units, Definition &Known, Definition Other) {
  if (sayTheSame(Units[Known.Unit], Units[Other.Unit]))
    return;
  size_t Here = foldersApart(Units[Known.Unit]), There = foldersApart(Units[Other.Unit]);
  llvm::StringRef Own = Units[Known.Unit].Output, Others = Units[Other.Unit].Output;
  bool OneFolder = llvm::sys::path::parent_path(Own) == llvm::sys::path::parent_path(Others);
  if (There < Here || (OneFolder && Others.size() < Own.size())) {
    std::swap(Known.Rivals, Other.Rivals);
    std::swap(Known.Tie, Other.Tie);
    std::swap(Known, Other);
  }
  Known.Tie = (Known.Tie && There >= Here) || (Here == There && (!OneFolder || Own == Others));
  Known.Rivals.push_back(Other.Unit);
}

/// True when \p Wanted ("" is any) is the file that defines the function, or the object or the
/// folder of objects of the program that is meant.
bool isFrom(const TranslationUnit &Unit, llvm::StringRef File, llvm::StringRef Wanted) {
  auto Names = [&](llvm::StringRef Path) {
    return Path == Wanted || Path.ends_with(("/" + Wanted).str());
  };
  return Wanted.empty() || Names(File) || Names(Unit.Output) ||
         Names(llvm::sys::path::parent_path(Unit.Output));
}

std::vector<Definition> definitions(const std::vector<TranslationUnit> &Units,
                                    llvm::StringRef Wanted) {
  llvm::StringRef File, Name = Wanted;
  if (size_t Colon = Wanted.rfind(':'); Colon != llvm::StringRef::npos) {
    File = Wanted.take_front(Colon);
    Name = Wanted.drop_front(Colon + 1);
  }
  std::vector<Definition> Found;
  for (uint32_t I = 0; I != Units.size(); ++I)
    for (const facts::Function &Body : Units[I].Functions) {
      if (Body.Symbol == None || Units[I].text(Units[I].Symbols[Body.Symbol].Name) != Name)
        continue;
      std::string Where = Units[I].text(Units[I].Symbols[Body.Symbol].Where.File);
      if (!isFrom(Units[I], Where, File))
        continue;
      Definition Here{I, &Body, Where, {}, false};
      auto Same = llvm::find_if(Found, [&](const Definition &D) { return D.File == Where; });
      if (Same == Found.end())
        Found.push_back(std::move(Here));
      else
        rival(Units, *Same, std::move(Here));
    }
  return Found;
}

std::vector<std::string> alike(const std::vector<TranslationUnit> &Units, llvm::StringRef Name) {
  std::vector<std::pair<unsigned, std::string>> Near;
  unsigned Limit = std::max<unsigned>(2, static_cast<unsigned>(Name.size()) / 3);
  for (const TranslationUnit &Unit : Units)
    for (const facts::Function &Body : Unit.Functions) {
      if (Body.Symbol == None)
        continue;
      const std::string &Other = Unit.text(Unit.Symbols[Body.Symbol].Name);
      unsigned Distance = Name.lower() == llvm::StringRef(Other).lower()
                              ? 0
                              : Name.edit_distance(Other, true, Limit);
      if (Distance <= Limit)
        Near.emplace_back(Distance, Other);
    }
  llvm::sort(Near);
  std::vector<std::string> Names;
  for (auto &[Distance, Other] : Near)
    if (Names.size() < 3 && !llvm::is_contained(Names, Other))
      Names.push_back(Other);
  return Names;
}

} // namespace

void sortUnits(std::vector<TranslationUnit> &Units) {
  llvm::sort(Units, [](const TranslationUnit &A, const TranslationUnit &B) {
    auto Left = std::tie(A.MainFile, A.Output), Right = std::tie(B.MainFile, B.Output);
    if (Left != Right)
      return Left < Right;
    return &A != &B && facts::serialise(A) < facts::serialise(B);
  });
}

llvm::Expected<std::vector<Definition>> findDefinitions(const std::vector<TranslationUnit> &Units,
                                                        const std::vector<std::string> &Wanted,
                                                        std::vector<std::string> &Notes) {
  std::vector<Definition> Found;
  for (const std::string &Name : Wanted) {
    std::vector<Definition> Here = definitions(Units, Name);
    std::string Plain = llvm::StringRef(Name).substr(Name.rfind(':') + 1).str();
    if (Here.size() == 1 && !Here.front().Tie) {
      Found.push_back(Here.front());
      if (const Definition &Only = Here.front(); !Only.Rivals.empty())
        Notes.push_back("'" + Plain + "' of " + Only.File +
                        " is compiled for several programs; this answer is for " +
                        Units[Only.Unit].Output + ", not for " + Units[Only.Rivals.front()].Output +
                        " (name the other one as " + Units[Only.Rivals.front()].Output + ":" +
                        Plain + ")");
      continue;
    }
    auto Failed = std::make_unique<UnknownFunction>();
    Failed->Name = Name;
    Failed->Ambiguous = !Here.empty();
    if (Here.empty())
      Failed->Candidates = alike(Units, Name);
    for (const Definition &Each : Here) {
      if (!Each.Tie) {
        Failed->Candidates.push_back(Each.File + ":" + Plain);
        continue;
      }
      Failed->Candidates.push_back(Units[Each.Unit].Output + ":" + Plain);
      for (uint32_t Rival : Each.Rivals)
        Failed->Candidates.push_back(Units[Rival].Output + ":" + Plain);
    }
    return llvm::Error(std::move(Failed));
  }
  return Found;
}

std::vector<FunctionId> idsOf(const Program &P, const std::vector<Definition> &Wanted) {
  std::vector<FunctionId> Ids;
  for (const Definition &Each : Wanted)
    for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
      if (P.function(Id).Body == Each.Body)
        Ids.push_back(Id);
  return Ids;
}

} // namespace nvmove::solve
