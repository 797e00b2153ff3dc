// What the map says of a member: see Changes.h.
#include "pool/Changes.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::pool {

namespace {

const FieldChange *fieldOf(const TypeChange *Change, const std::string &Name) {
  for (const FieldChange &F : Change ? llvm::ArrayRef(Change->Fields) : std::nullopt)
    if (F.Name == Name)
      return &F;
  return nullptr;
}

} // namespace

std::vector<std::pair<std::string, std::string>> Changes::around(const Member &M,
                                                                 const Level &In) const {
  std::vector<std::pair<std::string, std::string>> Found;
  for (const Part &P : llvm::reverse(In.Parts)) // a part stands before those in it
    if (std::optional<std::string> Name = nameIn(P, M))
      Found.emplace_back(P.Type, *Name);
  if (!In.Prefix.empty() && !In.Type.empty())
    Found.emplace_back(In.Type, M.Name);
  return Found;
}

/// "link.next" of "head.link.next" in the pool: the record "head" may have had another name.
std::string Changes::wasCalled(const std::string &Name, const Member &To, const Level &New,
                               const Level &Old, bool &IsThere) {
  for (const Part &P : llvm::reverse(New.Parts)) {
    if (P.IsBase || !nameIn(P, To))
      continue;
    const FieldChange *F = fieldOf(Own, New.Prefix + P.Name);
    if (F && !F->Was.empty()) {
      Seen.insert(F->Name);
      IsThere = llvm::any_of(
          Old.Parts, [&](const Part &O) { return !O.IsBase && Old.Prefix + O.Name == F->Was; });
      return F->Was + Name.substr(F->Name.size());
    }
  }
  return "";
}

std::optional<Changes::Said> Changes::of(const Member &To, const Level &New, const Level &Old) {
  std::string Name = New.Prefix + To.Name;
  Seen.insert(Name);
  std::optional<Said> Found;
  if (const FieldChange *F = fieldOf(Own, Name))
    Found = Said{F->Was, F->Value};
  bool IsThere = false;
  std::string Was = wasCalled(Name, To, New, Old, IsThere);
  for (const auto &[Type, Inner] : around(To, New))
    if (const FieldChange *F = fieldOf(Map.find(Type), Inner)) {
      Used.insert(F); // although the type's own entry may say something else
      std::string Around = Was.empty() ? Old.Prefix + To.Name : Was;
      Around.resize(Around.size() - Inner.size());
      if (!Found)
        Found = Said{F->Was.empty() ? "" : Around + F->Was, F->Value, /*IsOwn=*/false};
    }
  if (!Found && !Was.empty())
    Found = Said{Was, 0, /*IsOwn=*/!IsThere};
  return Found;
}

bool Changes::isGivenUp(const Member &From, const Level &Old) {
  std::vector<std::string> Names{Old.Prefix + From.Name};
  for (const Part &P : Old.Parts) // with all that it has
    if (!P.IsBase && nameIn(P, From))
      Names.push_back(Old.Prefix + P.Name);
  Seen.insert(Names.begin(), Names.end());
  GivenUp.insert(Names.begin(), Names.end());
  if (Own &&
      llvm::any_of(Names, [&](const std::string &N) { return llvm::is_contained(Own->Drop, N); }))
    return true;
  return llvm::any_of(around(From, Old), [&](const auto &In) {
    const TypeChange *Change = Map.findWas(In.first);
    return Change && llvm::is_contained(Change->Drop, In.second);
  });
}

bool Changes::isCut(const Member &To, const Level &New) {
  if (Own && llvm::is_contained(Own->Cut, New.Prefix + To.Name))
    return true;
  return llvm::any_of(around(To, New), [&](const auto &In) {
    const TypeChange *Change = Map.find(In.first);
    return Change && llvm::is_contained(Change->Cut, In.second);
  });
}

std::string Changes::unheard() const {
  std::string Said;
  auto Add = [&](const std::string &What) { Said += (Said.empty() ? "" : "; ") + What; };
  if (!Own)
    return Said;
  for (const FieldChange &F : Own->Fields)
    if (!Seen.count(F.Name))
      Add("the map's field " + F.Name + " is not in the program's");
  for (const auto *List : {&Own->Drop, &Own->Cut})
    for (const std::string &Name : *List)
      if (!Seen.count(Name))
        Add("the map's field " + Name + " is in neither");
  for (const std::string &Name : Own->Drop)
    if (Seen.count(Name) && !GivenUp.count(Name))
      Add("the map gives up field " + Name + ", which the program has, too");
  return Said;
}

} // namespace nvmove::pool
