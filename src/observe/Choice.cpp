// A greedy choice: see Choice.h.
#include "observe/Choice.h"

#include <optional>
#include <set>
#include <tuple>

namespace nvmove::observe {
namespace {

// What the data lose outside the pool is lost; what else lies in the pool may hold an address that
// means nothing there after a restart. A buffer of one command costs time only.
constexpr int DataOutside = 30, OtherInside = 10, PassingInside = 1, OneScope = 4, OneUnlike = 8;

class Chooser {
public:
  Chooser(const std::vector<Chain> &Chains, const std::set<unsigned> &Unlike)
      : Chains(Chains), Unlike(Unlike) {
    for (size_t I = 0; I < Chains.size(); ++I)
      for (size_t At = 0; At < Chains[I].Scopes.size(); ++At) {
        std::vector<size_t> &Known = With[Chains[I].Scopes[At]];
        if (Known.empty() || Known.back() != I)
          Known.push_back(I);
        Outward[Chains[I].Scopes[At]] += At;
      }
  }

  Choice run() {
    while (step())
      continue;
    while (doWithoutOne())
      continue;
    for (size_t I = 0; I < Chains.size(); ++I) {
      if (std::optional<unsigned> Scope = decides(Chains[I]))
        Made.Rules[*Scope].push_back(I);
      if (cost(Chains[I]) >= OtherInside)
        Made.Misplaced.push_back(I);
    }
    return std::move(Made);
  }

private:
  std::optional<unsigned> decides(const Chain &C) const {
    for (unsigned Scope : C.Scopes)
      if (Made.Scopes.count(Scope))
        return Scope;
    return std::nullopt;
  }

  int cost(const Chain &C) const {
    std::optional<unsigned> Scope = decides(C);
    bool InPool = Scope && Made.Scopes.at(*Scope) == ScopeKind::Persistent;
    switch (C.Where) {
    case Wanted::InPool:
      return InPool ? 0 : DataOutside;
    case Wanted::Outside:
      return InPool ? OtherInside : 0;
    case Wanted::Anywhere:
      return InPool ? PassingInside : 0;
    }
    return 0;
  }

  int cost(const std::vector<size_t> &Of) const {
    int Sum = 0;
    for (size_t I : Of)
      Sum += cost(Chains[I]);
    return Sum;
  }

  void set(unsigned Scope, std::optional<ScopeKind> Kind) {
    if (Kind)
      Made.Scopes[Scope] = *Kind;
    else
      Made.Scopes.erase(Scope);
  }

  std::optional<ScopeKind> kindOf(unsigned Scope) const {
    auto At = Made.Scopes.find(Scope);
    return At == Made.Scopes.end() ? std::nullopt : std::optional(At->second);
  }

  int total() const {
    int Sum = 0;
    for (const Chain &Each : Chains)
      Sum += cost(Each);
    for (const auto &[Scope, Kind] : Made.Scopes)
      Sum += Unlike.count(Scope) ? OneUnlike : OneScope;
    return Sum;
  }

  /// Forbids a scope, if the others without it come to less: a maker that was taken first hides its
  /// callers, which would tell apart what it makes.
  bool doWithoutOne() {
    const std::map<unsigned, ScopeKind> Before = Made.Scopes;
    const int Sum = total();
    for (const auto &[Scope, Kind] : Before) {
      Forbidden.insert(Scope);
      Made.Scopes.erase(Scope);
      while (step())
        continue;
      if (total() < Sum)
        return true;
      Forbidden.erase(Scope);
      Made.Scopes = Before;
    }
    return false;
  }

  /// Makes the change that saves most. Of equal ones that of the innermost scope: what was not observed
  /// is then placed by what is most like it.
  bool step() {
    using Change = std::tuple<int, size_t, unsigned, std::optional<ScopeKind>>;
    std::optional<Change> Best;
    for (const auto &[Scope, Of] : With) {
      if (Forbidden.count(Scope))
        continue;
      const std::optional<ScopeKind> Now = kindOf(Scope);
      const int Own = Unlike.count(Scope) ? OneUnlike : OneScope;
      const int Before = cost(Of) + (Now ? Own : 0);
      for (std::optional<ScopeKind> Kind :
           {std::optional(ScopeKind::Persistent), std::optional(ScopeKind::Volatile),
            std::optional<ScopeKind>()}) {
        if (Kind == Now)
          continue;
        set(Scope, Kind);
        Change Each{cost(Of) + (Kind ? Own : 0) - Before, Outward.at(Scope) / Of.size(), Scope,
                    Kind};
        if (std::get<0>(Each) < 0 && (!Best || Each < *Best))
          Best = Each;
      }
      set(Scope, Now);
    }
    if (Best)
      set(std::get<2>(*Best), std::get<3>(*Best));
    return Best.has_value();
  }

  const std::vector<Chain> &Chains;
  const std::set<unsigned> &Unlike;
  std::map<unsigned, std::vector<size_t>> With; ///< By scope: chains that have it.
  std::map<unsigned, size_t> Outward;           ///< By scope: its places in them, added up.
  std::set<unsigned> Forbidden;
  Choice Made;
};

} // namespace

Choice choose(const std::vector<Chain> &Chains, const std::set<unsigned> &Unlike) {
  return Chooser(Chains, Unlike).run();
}

} // namespace nvmove::observe
