// Names of the places of a block (src/crash/MemberName.h).
#include "crash/MemberName.h"

#include <gtest/gtest.h>

using namespace nvmove::crash;

namespace {

constexpr const char *Members = "0 8 signed count\n"
                                "8 16x3 record in\n"
                                "8 4 signed in[].key\n"
                                "16 4x2 signed in[].both\n"
                                "56.0 3b signed bits.a\n"
                                "56.3 5b signed bits.b\n"
                                "64 8 pointer u.q\n"
                                "64 8 signed u.n\n";

constexpr const char *Tail = "72 16x0 record items\n"
                             "72 4 signed items[].key\n"
                             "80 8 pointer items[].p\n";

std::string nameOf(uint64_t Inside, uint64_t BlockSize, std::string Lines = Members) {
  return memberName({"struct t", Lines, 72, Inside, BlockSize}).Text;
}

TEST(MemberName, IsTheMember) {
  EXPECT_EQ(nameOf(0, 80), "field count of struct t");
  EXPECT_EQ(nameOf(7, 80), "field count of struct t");
  EXPECT_EQ(nameOf(56, 80), "field bits.a of struct t");
}

TEST(MemberName, HasIndices) {
  EXPECT_EQ(nameOf(8 + 16 * 2 + 1, 80), "field in[2].key of struct t");
  EXPECT_EQ(nameOf(8 + 16 + 12, 80), "field in[1].both[1] of struct t");
}

TEST(MemberName, OfAUnionIsTheFirst) { EXPECT_EQ(nameOf(64, 80), "field u.q of struct t"); }

TEST(MemberName, OfPaddingIsAByte) { EXPECT_EQ(nameOf(12, 80), "byte 12 of struct t"); }

TEST(MemberName, InAnArrayOfRecords) {
  EXPECT_EQ(nameOf(72 * 3 + 16, 72 * 4), "field [3].in[0].both[0] of struct t");
}

TEST(MemberName, InTheArrayAtTheEnd) {
  std::string Both = std::string(Members) + Tail;
  EXPECT_EQ(nameOf(72 + 16 * 9 + 8, 400, Both), "field items[9].p of struct t");
  EXPECT_EQ(nameOf(64, 400, Both), "field u.q of struct t");
}

TEST(MemberName, SaysWhereTheMemberBegins) {
  MemberName M = memberName({"struct t", Members, 72, 72 + 8 + 16 + 13, 160});
  EXPECT_EQ(M.Text, "field [1].in[1].both[1] of struct t");
  EXPECT_EQ(M.First, 72u + 8 + 16 + 12);
  EXPECT_EQ(M.Size, 4u);
}

TEST(MemberName, NoLineIsTakenForAnother) {
  EXPECT_EQ(
      nameOf(0, 80, "zero 8 signed a\n0 0 signed b\n0 8xx signed c\n0 99999999999999999999b x d\n"),
      "byte 0 of struct t");
}

} // namespace
