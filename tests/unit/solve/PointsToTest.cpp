// Who points to what (src/solve/pointsto/PointsTo.h), on functions of a few lines. See PointsToMemoryTest for
// what memory holds, PointsToTypesTest for casts and records.
#include "PointsToRun.h"

#include <gtest/gtest.h>

using namespace nvmove;
using namespace nvmove::solve;

namespace {

/// Facts behind the types that all tests use.
struct Engine : PointsToRun {
  explicit Engine(const std::string &Text, uint64_t StepsMax = 10'000)
      : PointsToRun(R"(
    struct node { node *next; node *other; ulong value; }
    global node *head
)" + Text,
                    StepsMax) {}
};

TEST(PointsTo, CopiesHandOnOneWay) {
  Engine R(R"(
    void f() {
      node *n = new()
      node *m = n
      node *k = new()
      node *m = k
    })");
  EXPECT_EQ(R.of("n"), "n");
  EXPECT_EQ(R.of("m"), "k, n");
  EXPECT_EQ(R.of("k"), "k");
}

TEST(PointsTo, FieldsAreKeptApart) {
  Engine R(R"(
    void f() {
      node *n = new_node()
      node *m = new_node()
      p = &n->other
      *p = m
      q = &n->next
      node *next = *q
      node *other = *p
    })");
  EXPECT_EQ(R.of("p"), "n+8");
  EXPECT_EQ(R.of("other"), "m");
  EXPECT_EQ(R.of("next"), "");
}

TEST(PointsTo, TheOrderOfLinesDoesNotMatter) {
  Engine R(R"(
    void f() {
      local node *v
      p = &v
      node *early = *p
      node *further = early
      node *n = new()
      *p = n
    })");
  EXPECT_EQ(R.of("further"), "n");
}

TEST(PointsTo, WhatIsAskedLaterIsToldWhatIsKnown) {
  Engine R(R"(
    void f() {
      node *n = new_node()
    })");
  NodeId Copy = R.graph().makeNodes(2), Field = Copy + 1;
  R.graph().addEdge(R.node("n"), Copy);
  R.graph().addShift(R.node("n"), Field, 8);
  EXPECT_TRUE(R.graph().run());
  EXPECT_EQ(R.of(Copy), "n");
  EXPECT_EQ(R.of(Field), "n+8");
}

TEST(PointsTo, SomewhereIsEveryField) {
  Engine R(R"(
    void f() {
      node *n = new_node()
      node *m = new_node()
      node *k = new_node()
      p = n + ?
      *p = m
      q = &n->other
      *q = k
      r = &n->next
      node *next = *r
      node *any = *p
    })");
  EXPECT_EQ(R.of("p"), "n+?");
  EXPECT_EQ(R.of("next"), "m");
  EXPECT_EQ(R.of("any"), "k, m");
}

TEST(PointsTo, AnElementStandsForAll) {
  Engine R(R"(
    void f() {
      node *n = new_node()
      node *e = &n[]
    })");
  EXPECT_EQ(R.of("e"), "n");
  EXPECT_TRUE(R.graph().object(R.only("n").In).Indexed);
}

TEST(PointsTo, StepsArePreciseWhereFieldsBegin) {
  Engine R(R"(
    void f() {
      node *n = new_node()
      field = n + 8
      within = n + 9
      outside = n + 24
      before = n - 8
    })");
  EXPECT_EQ(R.of("field"), "n+8");
  EXPECT_EQ(R.of("within"), "n+?");
  EXPECT_EQ(R.of("outside"), "n+?");
  EXPECT_EQ(R.of("before"), "n+?");
}

TEST(PointsTo, AnArrayAtTheEndOfARecordLiesBeyondIt) {
  Engine R(R"(
    struct message { ulong length; char[0] text; }
    void f() {
      message *m = new_message()
      text = &m->text
    })");
  EXPECT_EQ(R.of("text"), "m+?");
}

TEST(PointsTo, AFewStepsThroughUnknownMemory) {
  Engine R(R"(
    void f() {
      void *b = new()
      before = b - 8
      p1 = b + 8
      p2 = b + 16
      p3 = b + 24
      p4 = b + 32
      p5 = b + 40
      again = b + 8
    })");
  EXPECT_EQ(R.of("before"), "b+?");
  EXPECT_EQ(R.of("p4"), "b+32");
  EXPECT_EQ(R.of("p5"), "b+?"); // StepsThroughMax
  EXPECT_EQ(R.of("again"), "b+8");
}

TEST(PointsTo, InputTravelsLikeAPointer) {
  Engine R(R"(
    void f() {
      void *file = handle()
      ulong c = *file
      node *n = new_node()
      p = &n->value
      *p = c
      int back = *p
      behind = back + 8
    })");
  EXPECT_EQ(R.of("file"), "handle");
  EXPECT_EQ(R.of("back"), "input");
  EXPECT_EQ(R.of("behind"), "input");
}

TEST(PointsTo, NumbersHoldInputAndSizesOnly) {
  Engine R(R"(
    void f() {
      local node *v
      ulong s = sizeof node
      ulong n = new()
      int stepped = n + 8
      ulong i = input()
      p = &v
      *p = s
      *p = n
      *p = i
      ulong wide = *p
      int number = *p
      char letter = *p
    })");
  EXPECT_EQ(R.of("wide"), "input, n, sizeof node");
  EXPECT_EQ(R.of("number"), "input, sizeof node");
  EXPECT_EQ(R.of("stepped"), "");
  EXPECT_EQ(R.of("letter"), "input");
}

TEST(PointsTo, WhatIsBuiltLiesOnTheHeap) {
  Engine R(R"(
    void f() {
      local node v
      a = &v
      b = a
      node *n = new()
      b = n
      i = input()
      b = i
      c = built(b)
    })");
  EXPECT_EQ(R.of("b"), "input, n, v");
  EXPECT_EQ(R.of("c"), "n");
}

TEST(PointsTo, StoresAreRemembered) {
  Engine R(R"(
    void f() {
      node *n = new_node()
      node *m = new_node()
      p = &head
      *p = n
      *p = n
      *p = m
    })");
  solve::Location Head = R.only("p");
  const std::vector<Feed> &Feeds = R.graph().feeds(R.graph().cell(Head.In, Head.Offset));
  ASSERT_EQ(Feeds.size(), 2u); // Once for each value.
  EXPECT_EQ(Feeds[0].From, R.node("n"));
  EXPECT_EQ(Feeds[0].Where.At->Code, facts::Op::Store);
  EXPECT_EQ(Feeds[1].From, R.node("m"));
  EXPECT_TRUE(R.graph().feeds(R.node("n")).empty());
}

TEST(PointsTo, StopsWhenTheStepsRunOut) {
  std::string Text = R"(
    void f() {
      node *n = new()
      node *a = n
      p = &a->next
      q = &a->other
    })";
  EXPECT_TRUE(Engine(Text).done());
  EXPECT_FALSE(Engine(Text, /*StepsMax=*/1).done());
}

TEST(PointsTo, TextInsideARecordDoesNotKeepIt) {
  Engine R(R"(
    struct entry { node *next; char[16] name; node *value; char[8] rest; }
    void f() {
      entry *e = new_entry()
      name = &e->name
      value = &e->value
      rest = &e->rest
      text = text()
      inside = text + 4
    })");
  auto Keeps = [&](llvm::StringRef Name) { return R.graph().keeps(R.only(Name)); };
  EXPECT_TRUE(Keeps("e"));
  EXPECT_FALSE(Keeps("name"));
  EXPECT_TRUE(Keeps("value"));
  EXPECT_TRUE(
      Keeps("rest")); // Allocated with the record, for as long as it is: a string of its own.
  EXPECT_TRUE(Keeps("inside"));
}

} // namespace
