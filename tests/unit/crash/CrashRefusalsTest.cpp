// Since when states are refused (src/crash/Refusals.h).
#include "crash/Refusals.h"

#include <gtest/gtest.h>

using nvmove::crash::Refusals;

namespace {

TEST(CrashRefusals, findsTheFirstOfARow) {
  for (size_t First = 1; First < 100; ++First) {
    Refusals Known;
    size_t Asked = 0;
    auto IsRight = [&](size_t Event) { return ++Asked, Event < First; };
    EXPECT_EQ(Known.first(100, IsRight), First);
    EXPECT_LE(Asked, 7u);
    Asked = 0;
    EXPECT_EQ(Known.first(120, IsRight), First); // of the same row: nobody is asked
    EXPECT_EQ(Known.first(First, IsRight), First);
    EXPECT_EQ(Asked, 0u);
  }
}

TEST(CrashRefusals, whatIsRightBetweenEndsARow) {
  Refusals Known;
  auto IsRight = [](size_t Event) { return Event < 10 || (Event >= 20 && Event < 30); };
  EXPECT_EQ(Known.first(15, IsRight), 10u);
  Known.right(22);
  EXPECT_EQ(Known.first(40, IsRight), 30u);
  EXPECT_EQ(Known.first(12, IsRight), 10u);
}

} // namespace
