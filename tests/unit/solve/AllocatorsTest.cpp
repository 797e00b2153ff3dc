// Who allocates, keeps in stock or frees on behalf of others (src/solve/summary/Inference.h): one rule a
// test, with a twin that just misses it.
#include "Inferred.h"

#include <gtest/gtest.h>

using namespace nvmove;
using namespace nvmove::solve;

namespace {

TEST(InferAllocator, ReturnsMemoryOfTheSizeThatItIsGiven) {
  Inferred F(R"(
    void *xmalloc(ulong size) {
      void *p = malloc(size)
      return p
    }
    void *outer(ulong size) {
      ulong more = size + 8
      void *p = xmalloc(more)
      return p
    }
    void *array(ulong count, ulong size) {
      void *p = calloc(count, size)
      return p
    }
    char *forgets(ulong size) {
      char *p = malloc(size)
      return null
    }
    void *fixed() {
      void *p = malloc(null)
      return p
    })");
  EXPECT_EQ(F.standsFor("xmalloc"), "allocate size");
  EXPECT_EQ(F.standsFor("outer"), "allocate size");
  EXPECT_EQ(F.standsFor("array"), "allocate count size");
  EXPECT_EQ(F.standsFor("forgets"), "");
  EXPECT_EQ(F.standsFor("fixed"), "");
}

TEST(InferAllocator, WithContentOrAWayOutItIsAConstructor) {
  Inferred F(R"(
    struct node { node *next; }
    node *typed(ulong size) {
      node *p = malloc(size)
      return p
    }
    char *duplicate(void *content, ulong size) {
      char *p = malloc(size)
      return p
    }
    void *behind(void **where, ulong size) {
      void *p = malloc(size)
      return p
    })");
  EXPECT_EQ(F.standsFor("typed"), "");
  EXPECT_EQ(F.standsFor("duplicate"), "");
  EXPECT_EQ(F.standsFor("behind"), "");
}

TEST(InferAllocator, ResizesTheOnlyPointer) {
  Inferred F(R"(
    void *xrealloc(void *old, ulong size) {
      void *p = realloc(old, size)
      return p
    }
    void *two(void *old, void *other, ulong size) {
      void *p = realloc(old, size)
      return p
    })");
  EXPECT_EQ(F.standsFor("xrealloc"), "resize old size");
  EXPECT_EQ(F.standsFor("two"), "");
}

TEST(InferPool, HandsOutWhatItKeepsInStock) {
  Inferred F(R"(
    global void *stock
    void refill() {
      void *p = malloc(null)
      q = &stock
      *q = p
    }
    void *take(ulong size) {
      refill()
      q = &stock
      void *p = *q
      return p
    }
    void *take_from(void *pool, ulong size) {
      refill()
      return pool
    }
    void *give(ulong size) {
      q = &stock
      void *p = *q
      return p
    })");
  EXPECT_EQ(F.standsFor("take"), "allocate size");
  EXPECT_EQ(F.standsFor("take_from"), ""); // Takes a generic pointer.
  EXPECT_EQ(F.standsFor("give"), "");      // Reaches no allocator.
}

TEST(InferPool, WhatReadsOrStampsATypeIsNone) {
  Inferred F(R"(
    struct node { node *next; }
    void refill() {
      void *p = malloc(null)
    }
    void *reads(int file) {
      local void *buffer
      refill()
      b = &buffer
      read(file, b, null)
      return null
    }
    void *stamps(int kind) {
      s = sizeof node
      void *p = malloc(s)
      return p
    }
    void *neither(int kind) {
      refill()
      return null
    })");
  EXPECT_EQ(F.standsFor("reads"), "");
  EXPECT_EQ(F.standsFor("stamps"), "");
  EXPECT_EQ(F.standsFor("neither"), "allocate kind");
}

TEST(InferPool, ReachesItsAllocatorByFewCalls) {
  Inferred F(R"(
    void a() {
      void *p = malloc(null)
    }
    void b() {
      a()
    }
    void c() {
      b()
    }
    void d() {
      c()
    }
    void e() {
      d()
    }
    formats log
    void log(char *format) {
      a()
    }
    formats log_text
    void log_text(char *format) {
      void *p = malloc(null)
    }
    void f() {
      log(null)
    })");
  auto May = [&](llvm::StringRef Name) { return F.Known.mayAllocate(F.function(Name)); };
  EXPECT_TRUE(May("a"));
  EXPECT_TRUE(May("d")); // PoolDepth above.
  EXPECT_FALSE(May("e"));
  EXPECT_FALSE(May("log")); // What is logged says nothing.
  EXPECT_FALSE(May("log_text"));
  EXPECT_FALSE(May("f"));
}

TEST(InferDestructor, PassesAParameterOnToBeFreed) {
  Inferred F(R"(
    struct node { node *next; }
    void destroy(node *n) {
      free(n)
    }
    void outer(node *n) {
      destroy(n)
    }
    void destroy_sometimes(node *n) {
      if {
        free(n)
      }
    }
    void destroy_in_a_way_out(node *n) {
      if {
        free(n)
        return
      }
    }
    node *unlink(node *n) {
      free(n)
      return n
    }
    void keeps(node *n, node *list) {
      p = &list->next
      *p = n
      free(list)
    })");
  EXPECT_EQ(F.standsFor("destroy"), "release n");
  EXPECT_EQ(F.standsFor("outer"), "release n");
  EXPECT_EQ(F.standsFor("destroy_sometimes"), "release n sometimes");
  EXPECT_EQ(F.standsFor("destroy_in_a_way_out"), "");
  EXPECT_EQ(F.standsFor("unlink"), "");
  EXPECT_EQ(F.standsFor("keeps"), "");
}

TEST(InferDestructor, FreesWhatTheOnlyPointerPointsTo) {
  Inferred F(R"(
    void clear(void **where) {
      void *p = *where
      free(p)
      *where = null
    }
    void renew(void **where, ulong size) {
      void *p = *where
      free(p)
      void *fresh = malloc(size)
      *where = fresh
    }
    void clear_one_of(void **where, void *other) {
      void *p = *where
      free(p)
    })");
  EXPECT_EQ(F.standsFor("clear"), "release where through");
  EXPECT_EQ(F.standsFor("renew"), "");
  EXPECT_EQ(F.standsFor("clear_one_of"), "");
}

} // namespace
