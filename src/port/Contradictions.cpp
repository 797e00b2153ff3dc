// Names in two lists: see Contradictions.h. An entry for one source is one of the entry for all.
#include "port/Contradictions.h"

#include "llvm/ADT/StringMap.h"

namespace nvmove::port {
namespace {

/// The source that an entry is for; "" for all.
llvm::StringRef sourceOf(const Entry &E) {
  auto [Source, Name] = llvm::StringRef(E.Written).split(':');
  return Name.empty() ? "" : Source;
}

/// Whether some source has both.
bool meet(const Entry &A, const Entry &B) {
  llvm::StringRef One = sourceOf(A), Other = sourceOf(B);
  return One.empty() || Other.empty() || sameSource(One, Other) || sameSource(Other, One);
}

/// Names that were seen, each with the list that has it; one name in two of these is nonsense.
class Lists {
public:
  void add(const Entry &E, const char *List) {
    std::vector<Place> &Places = Seen[E.Name];
    for (const Place &Before : Places)
      if (Found.What.empty() && meet(*Before.Is, E))
        Found = {E, describe(E, List, Before)};
    Places.push_back({&E, List});
  }

  Contradiction Found;

private:
  struct Place {
    const Entry *Is;
    llvm::StringRef List;
  };

  static std::string describe(const Entry &E, llvm::StringRef List, const Place &Before) {
    std::string Here = "'" + E.Written + "' is in '" + List.str() + "' ";
    bool IsSame = Before.Is->Written == E.Written;
    std::string Other = IsSame ? "" : "'" + Before.Is->Written + "' is ";
    if (Before.List == List)
      return Here + (IsSame ? "twice" : "and " + Other + "there, too");
    return Here + "and " + Other + "in '" + Before.List.str() + "', which contradict each other";
  }

  llvm::StringMap<std::vector<Place>> Seen;
};

} // namespace

Contradiction findContradiction(const PortFile &P) {
  const Fields &M = P.Marks;
  struct Named {
    const char *Name;
    const std::vector<Entry> *Entries;
  };
  // Each group's lists exclude one another.
  const std::vector<Named> Groups[] = {
      {{"persistent", &P.Persistent}, {"volatile", &P.Volatile}, {"beside", &P.Beside}},
      {{"commit", &P.Commit}, {"split", &P.Split}},
      {{"atomic", &P.Atomic}},
      {{"allocators", &P.Allocators}},
      {{"end", &P.End}},
      {{"bytes", &P.Bytes}},
      {{"unsafe", &P.Unsafe}},
      {{"pointer", &M.Pointer},
       {"weak", &M.Weak},
       {"static", &M.Static},
       {"volatile", &M.Volatile},
       {"pointer_or_number", &M.Number},
       {"xor", &M.Xor},
       {"made_of_addresses", &M.Addresses}},
  };
  Lists Of, Decisions, Roots, Loads;
  for (const std::vector<Named> &Group : Groups) {
    Of = Lists();
    for (const Named &List : Group)
      for (const Entry &E : *List.Entries)
        Of.add(E, List.Name);
    if (!Of.Found.What.empty())
      return Of.Found;
  }
  for (const Tagged &T : M.Tag) // the last group is that of the marks
    Of.add(T.Field, "tagged");
  // What decides whether a field is a pointer may decide of one that is weak, static or tagged.
  for (const auto &List : {Named{"volatile", &M.Volatile}, Named{"pointer_or_number", &M.Number},
                           Named{"xor", &M.Xor}, Named{"made_of_addresses", &M.Addresses}})
    for (const Entry &E : *List.Entries)
      Decisions.add(E, List.Name);
  for (const Decided &D : M.When)
    Decisions.add(D.Field, "decided");
  for (const Root &R : P.Roots)
    Roots.add(R.Name, "roots");
  for (const Load &L : P.Loads)
    Loads.add(L.Function, "load");
  for (Lists *L : {&Of, &Decisions, &Roots, &Loads})
    if (!L->Found.What.empty())
      return L->Found;
  return {};
}

} // namespace nvmove::port
