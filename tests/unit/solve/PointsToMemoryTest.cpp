// What memory holds: older than the load, mapped, constant, filled, copied (src/solve/pointsto/PointsTo.h).
#include "PointsToRun.h"

#include <gtest/gtest.h>

using namespace nvmove;
using namespace nvmove::solve;

namespace {

/// Facts behind the types that all tests use.
struct MemoryEngine : PointsToRun {
  explicit MemoryEngine(const std::string &Text)
      : PointsToRun(R"(
    struct node { node *next; node *other; ulong value; }
    global node *head
)" + Text) {}
};

TEST(PointsToMemory, GlobalNumbersKeepNoPointers) {
  MemoryEngine R(R"(
    global long counter
    global ulong address
    void f() {
      node *n = new()
      p = &counter
      *p = n
      node *c = *p
      q = &address
      *q = n
      node *a = *q
    })");
  EXPECT_EQ(R.of("c"), "old node");
  EXPECT_EQ(R.of("a"), "n, old node");
}

TEST(PointsToMemory, OlderMemoryIsOneObjectForEachType) {
  MemoryEngine R(R"(
    void f(node *a, node *b, node **deeper) {
      node *n = new_node()
      p = &a->next
      *p = n
      q = &b->next
      node *next = *q
      r = &b->other
      node *other = *r
      node *down = *deeper
    })");
  EXPECT_EQ(R.of("a"), "old node");
  EXPECT_EQ(R.of("deeper"), "old node *");
  EXPECT_EQ(R.of("next"), "n, old node");
  EXPECT_EQ(R.of("other"), "old node");
  EXPECT_EQ(R.of("down"), "old node");
}

TEST(PointsToMemory, OnlyOlderMemoryHoldsWhatNobodyPutThere) {
  MemoryEngine R(R"(
    global node *emptied_list
    void f() {
      p = &head
      node *global = *p
      int number = *p
      q = &emptied_list
      node *emptied = *q
      node *n = new_node()
      r = &n->next
      node *fresh = *r
      local node *v
      s = &v
      node *local_one = *s
    })");
  EXPECT_EQ(R.of("global"), "old node");
  EXPECT_EQ(R.of("number"), "");
  EXPECT_EQ(R.of("emptied"), "");
  EXPECT_EQ(R.of("fresh"), "");
  EXPECT_EQ(R.of("local_one"), "");
}

TEST(PointsToMemory, PointersInAMappedFilePointIntoIt) {
  MemoryEngine R(R"(
    void f() {
      void *m = map()
      node *n = *m
      ulong number = *m
    })");
  EXPECT_EQ(R.of("n"), "m+?");
  EXPECT_EQ(R.of("number"), "");
}

TEST(PointsToMemory, FunctionsInOlderMemoryComeFromFunctionFlow) {
  MemoryEngine R(R"(
    struct ops { code *read; code *write; }
    global code *hook
    void first() {
    }
    void second() {
    }
    start {
      a = &second
      p = &hook
      *p = a
    }
    void register(ops *o) {
      a = &first
      p = &o->read
      *p = a
      q = &hook
      *q = a
    }
    void f(ops *o) {
      p = &o->read
      code *read = *p
      q = &o->write
      code *write = *q
      r = &hook
      code *known = *r
    })");
  EXPECT_EQ(R.of("read"), "first");
  EXPECT_EQ(R.of("write"), "");
  EXPECT_EQ(R.of("known"), "second"); // Its initialiser is sure; the other call may never come.
}

TEST(PointsToMemory, ConstantsKeepWhatTheirInitialiserSays) {
  MemoryEngine R(R"(
    const global node *first
    const global node *second
    global node one
    start {
      p = &first
      a = &one
      *p = a
    }
    void f() {
      node *n = new_node()
      p = &first
      q = &second
      *p = n
      *q = n
      fill(q)
      node *kept = *p
      node *nothing = *q
    })");
  EXPECT_EQ(R.of("kept"), "old node, one");
  EXPECT_EQ(R.of("nothing"), "old node");
}

TEST(PointsToMemory, FilledMemoryIsInputEverywhere) {
  MemoryEngine R(R"(
    void f() {
      node *n = new_node()
      node *m = new_node()
      fill(n)
      p = &n->value
      ulong filled = *p
      q = &m->value
      ulong other = *q
    })");
  EXPECT_EQ(R.of("filled"), "input");
  EXPECT_EQ(R.of("other"), "");
  EXPECT_EQ(R.graph().filled().count(R.only("n").In), 1u);
}

TEST(PointsToMemory, ObjectsAreCopiedFieldByField) {
  MemoryEngine R(R"(
    struct pair { node *a; node *b; node *c; }
    struct half { node *a; }
    void f() {
      pair *from = new_pair()
      pair *to = new_pair()
      pair *part = new_pair()
      *to = *from : pair
      *part = *from : half
      node *n = new_node()
      node *m = new_node()
      p = &from->a
      *p = n
      q = &from->c
      *q = m
      r = &to->a
      node *a = *r
      s = &to->c
      node *c = *s
      t = &part->a
      node *part_a = *t
      u = &part->c
      node *part_c = *u
    })");
  EXPECT_EQ(R.of("a"), "n");
  EXPECT_EQ(R.of("c"), "m");
  EXPECT_EQ(R.of("part_a"), "n");
  EXPECT_EQ(R.of("part_c"), ""); // It lies beyond the bytes that were copied.
}

TEST(PointsToMemory, CopiesOfUnknownLengthBetweenBuffersMixFields) {
  MemoryEngine R(R"(
    void f() {
      void *from = new()
      void *to = new()
      copy(to, from)
      node *n = new_node()
      p = from + 8
      *p = n
      q = to + 16
      node *any = *q
      node *typed = new_node()
      copy(to, typed)
      r = &typed->next
      node *m = new_node()
      *r = m
    })");
  EXPECT_EQ(R.of("any"), "m, n");
}

TEST(PointsToMemory, ACopyOfInputIsInput) {
  MemoryEngine R(R"(
    void f() {
      i = input()
      node *n = new_node()
      copy(n, i)
      p = &n->value
      ulong value = *p
    })");
  EXPECT_EQ(R.of("value"), "input");
}

TEST(PointsToMemory, CharactersCarryInputButNoPointers) {
  MemoryEngine R(R"(
    void f() {
      void *from = new()
      void *to = new()
      copy_bytes(to, from)
      node *n = new_node()
      *from = n
      ulong i = input()
      *from = i
      ulong s = sizeof node
      *from = s
      ulong copied = *to
    })");
  EXPECT_EQ(R.of("copied"), "input");
}

} // namespace
