// What the map says of a member: see Changes.h.
#include "pool/Changes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace nvmove::pool {

namespace {

const FieldChange *fieldOf(const TypeChange *Change, const std::string &Name) {
  for (const FieldChange &F : Change ? llvm::ArrayRef(Change->Fields) : std::nullopt)
    if (F.Name == Name)
      return &F;
  return nullptr;
}

/// "head.link.next", "head.link", "head": a member, and the records around it.
std::vector<std::string> withRecords(const std::string &Name) {
  std::vector<std::string> All{Name};
  for (size_t Dot = Name.rfind('.'); Dot != std::string::npos && Dot;
       Dot = Name.rfind('.', Dot - 1))
    All.push_back(Name.substr(0, Dot));
  return All;
}

/// What is said of a member, or else of the innermost record around it that has another name. All of it is heard.
const FieldChange *sayingOf(const TypeChange *Change, const std::string &Prefix,
                            const std::string &Name,
                            llvm::function_ref<void(const FieldChange &)> Hear) {
  const FieldChange *First = nullptr;
  for (const std::string &Part : withRecords(Name)) {
    const FieldChange *F = fieldOf(Change, Prefix + Part);
    if (!F || (Part != Name && F->Was.empty()))
      continue;
    Hear(*F);
    First = First ? First : F;
  }
  return First;
}

} // namespace

std::optional<Changes::Said> Changes::of(const Member &To, const Level &New, const Level &Old) {
  Seen.insert(New.Prefix + To.Name);
  struct Saying {
    const FieldChange *Of;
    size_t Before; ///< of its name: characters before the level's names
    bool IsOwn;
  };
  // By where in the name what they are said of begins: the type's own entry first.
  std::multimap<size_t, Saying> Sayings;
  auto Hear = [&](const FieldChange &F) { Used.insert(&F); };
  auto HearOwn = [&](const FieldChange &F) { Seen.insert(F.Name); };
  if (const FieldChange *F = sayingOf(Own, New.Prefix, To.Name, HearOwn))
    Sayings.insert({0, {F, New.Prefix.size(), true}});
  for (const Context &C : contextsOf(To, New))
    if (const FieldChange *F = sayingOf(Map.find(C.Type), C.Prefix, C.Name, Hear))
      Sayings.insert({To.Name.size() - C.Name.size(), {F, C.Prefix.size(), false}});
  if (Sayings.empty())
    return std::nullopt;
  Said Found{Old.Prefix, 0, /*IsOwn=*/false};
  for (size_t At = 0; At < To.Name.size();) {
    auto First = Sayings.lower_bound(At);
    if (First == Sayings.end() || First->first != At) {
      size_t End = std::min(To.Name.find('.', At), To.Name.size() - 1) + 1;
      Found.Was += To.Name.substr(At, End - At);
      At = End;
      continue;
    }
    auto [F, Before, IsOwn] = First->second;
    if (F->Was.empty())
      return Said{"", F->Value, IsOwn};
    At += F->Name.size() - Before;
    if (!IsOwn) { // of an array's element: it is in the array that this one was
      size_t Array = Before ? F->Was.rfind("[].") : std::string::npos;
      Found.Was += Array == std::string::npos ? F->Was : F->Was.substr(Array + 3);
      continue;
    }
    Found.Was = F->Was;
    // A member of a record that has another name may be new.
    Found.IsOwn = At == To.Name.size() || llvm::none_of(Old.Parts, [&, F = F](const Part &P) {
                    return !P.IsBase && Old.Prefix + P.Name == F->Was;
                  });
  }
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
  return llvm::any_of(contextsOf(From, Old), [&](const Context &C) {
    const TypeChange *Change = Map.findWas(C.Type);
    return Change && llvm::any_of(withRecords(C.Name), [&](const std::string &Name) {
             return llvm::is_contained(Change->Drop, C.Prefix + Name);
           });
  });
}

bool Changes::isCut(const Member &To, const Level &New) {
  if (Own && llvm::is_contained(Own->Cut, New.Prefix + To.Name))
    return true;
  return llvm::any_of(contextsOf(To, New), [&](const Context &C) {
    const TypeChange *Change = Map.find(C.Type);
    return Change && llvm::is_contained(Change->Cut, C.Prefix + C.Name);
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
