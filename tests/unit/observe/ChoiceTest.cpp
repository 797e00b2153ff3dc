// Scopes of observed chains (src/observe/Choice.h).
#include "observe/Choice.h"

#include <gtest/gtest.h>

using namespace nvmove::observe;

namespace {

enum : unsigned { Make, Add, Load, Command, Reply, Wrapper };
using Scopes = std::map<unsigned, ScopeKind>;
constexpr ScopeKind P = ScopeKind::Persistent, V = ScopeKind::Volatile;

TEST(Choice, TakesOneScopeForAllThatIsData) {
  Choice C = choose({{{Add, Load}, Wanted::InPool}, {{Add, Command}, Wanted::InPool}});
  EXPECT_EQ(C.Scopes, (Scopes{{Add, P}}));
  EXPECT_EQ(C.Rules[Add], (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(C.Misplaced.empty());
}

TEST(Choice, TellsApartByCallersWhatOneFunctionMakes) {
  Choice C = choose({{{Make, Add, Command}, Wanted::InPool},
                     {{Make, Reply, Command}, Wanted::Outside},
                     {{Make, Load}, Wanted::InPool}});
  EXPECT_EQ(C.Scopes, (Scopes{{Add, P}, {Load, P}}));
  EXPECT_TRUE(C.Misplaced.empty());
}

TEST(Choice, KeepsAFewOthersOutOfALargeScope) {
  std::vector<Chain> Chains;
  for (unsigned Maker = 10; Maker < 20; ++Maker)
    Chains.push_back({{Maker, Command}, Wanted::InPool});
  Chains.push_back({{Make, Reply, Command}, Wanted::Outside});
  Choice C = choose(Chains);
  EXPECT_EQ(C.Scopes.at(Command), P);
  EXPECT_EQ(C.Scopes.size(), 2u);
  EXPECT_TRUE(C.Scopes.count(Make) ? C.Scopes.at(Make) == V : C.Scopes.at(Reply) == V);
  EXPECT_TRUE(C.Misplaced.empty());
}

TEST(Choice, NamesWhatNoScopeCanTellApart) {
  Choice C = choose({{{Make}, Wanted::InPool}, {{Make}, Wanted::Outside}});
  EXPECT_EQ(C.Scopes, (Scopes{{Make, P}})); // data outside would be lost
  EXPECT_EQ(C.Misplaced, (std::vector<size_t>{1}));
}

TEST(Choice, LeavesOutWhatOthersHaveMadeNeedless) {
  // Alone, the wrapper looks best; with the callers of the rest it is not needed any more.
  Choice C = choose({{{Wrapper, Add}, Wanted::InPool},
                     {{Wrapper, Load}, Wanted::InPool},
                     {{Wrapper, Reply}, Wanted::Outside},
                     {{Wrapper, Command}, Wanted::Outside}},
                    {Wrapper});
  EXPECT_EQ(C.Scopes, (Scopes{{Add, P}, {Load, P}}));
}

TEST(Choice, NeedsNoScopeForPassingBuffers) {
  EXPECT_TRUE(choose({{{Make}, Wanted::Anywhere}, {{Add}, Wanted::Outside}}).Scopes.empty());
  EXPECT_TRUE(choose({}).Scopes.empty());
  Choice C = choose({{{}, Wanted::InPool}});
  EXPECT_EQ(C.Misplaced, (std::vector<size_t>{0})); // main's own: there is no scope for it
}

} // namespace
