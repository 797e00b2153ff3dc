// The fewest scopes that place what was observed: data into the pool, all else outside.
//
// A port file names scopes: what is allocated in their calls lies in the pool (persistent) or does not
// (volatile), and the innermost scope decides; without one an allocation lies outside
// (docs/reference/port-file.md). Scopes are chosen one by one, each the one that helps most, and left
// out again where others have made them needless. A chain that is placed wrongly costs more than a
// scope; one that never met a point costs little.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace nvmove::observe {

enum class Wanted { InPool, Outside, Anywhere };

/// One chain of calls. Ids are the caller's: of functions, of places that are assigned to.
struct Chain {
  std::vector<unsigned> Scopes; ///< That may be named, the innermost first.
  Wanted Where = Wanted::Anywhere;
};

enum class ScopeKind { Persistent, Volatile };

struct Choice {
  std::map<unsigned, ScopeKind> Scopes;
  std::vector<size_t> Misplaced;                 ///< Chains, by their numbers.
  std::map<unsigned, std::vector<size_t>> Rules; ///< By scope: the chains that it decides.
};

/// \p Unlike: scopes that are taken only where no other does as well, as they say little about what was
/// not observed.
Choice choose(const std::vector<Chain> &Chains, const std::set<unsigned> &Unlike = {});

} // namespace nvmove::observe
