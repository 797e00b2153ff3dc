// What functions are, whatever the input is (src/solve/summary/Inference.h): one rule a test, with a twin
// that just misses it. Who allocates and frees: AllocatorsTest.
#include "Inferred.h"

#include <gtest/gtest.h>

using namespace nvmove;
using namespace nvmove::solve;

namespace {

TEST(InferNoReturn, ACallOnEveryWayNeverReturns) {
  Inferred F(R"(
    void leave(int status) {
      exit(status)
    }
    void leave_by_wrapper() {
      leave(null)
    }
    void leave_sometimes(int status) {
      if {
        exit(status)
      }
    }
    void leave_later(int status) {
      if {
        return
      }
      exit(status)
    })");
  EXPECT_TRUE(F.noReturn("leave"));
  EXPECT_TRUE(F.noReturn("leave_by_wrapper"));
  EXPECT_FALSE(F.noReturn("leave_sometimes"));
  EXPECT_FALSE(F.noReturn("leave_later"));
}

TEST(InferNoReturn, ADeclarationSaysSo) {
  Inferred F(R"(
    noreturn panic
    noreturn own_panic
    void f() {
      panic()
    }
    void own_panic() {
    }
    void g() {
      own_panic()
    }
    void h() {
      warn()
    })");
  EXPECT_TRUE(F.noReturn("f"));
  EXPECT_TRUE(F.noReturn("g"));
  EXPECT_FALSE(F.noReturn("h"));
}

TEST(InferNoReturn, ErrorExitsAreDeadRegions) {
  Inferred F(R"(
    void f(int n) {
      if {
        exit(n)
        if {
          puts(n)
        }
      }
      if {
        return
        exit(n)
      }
      loop {
        exit(n)
      }
      if {
        puts(n)
      }
    })");
  // The body, the exit, what lies in it; a region that may return, a loop, another branch.
  EXPECT_EQ(F.Known.deadRegions(F.function("f")),
            std::vector<bool>({false, true, true, false, false, false}));
}

TEST(InferLogger, FormatsItsArguments) {
  Inferred F(R"(
    formats vfprintf
    formats printf
    formats declared
    void complain(char *format, ...) {
      vfprintf(null, format, ...)
    }
    void declared(char *format) {
    }
    char *text(char *format, ...) {
      vfprintf(null, format, ...)
      return null
    }
    void prints(char *format, ...) {
      printf(format)
    }
    void fixed(char *format) {
      vfprintf(null, format)
    }
    void visits(char *format, ...) {
      visit(format, ...)
    })");
  EXPECT_TRUE(F.formats("complain"));
  EXPECT_TRUE(F.formats("declared"));
  EXPECT_FALSE(F.formats("text"));   // Gives a pointer back.
  EXPECT_FALSE(F.formats("prints")); // Its variable arguments go nowhere.
  EXPECT_FALSE(F.formats("fixed"));
  EXPECT_FALSE(F.formats("visits"));
}

TEST(InferFiller, HandsAParameterOnToARead) {
  Inferred F(R"(
    void fill(void *to, ulong size, int file) {
      void *place = to + 8
      fread(place, size, null, file)
    }
    void outer(char *line, int file) {
      fill(line, null, file)
    }
    void own(char *line, int file) {
      local char[64] buffer
      b = &buffer
      fread(b, null, null, file)
    })");
  EXPECT_EQ(F.fills("fill"), "to");
  EXPECT_EQ(F.fills("outer"), "line");
  EXPECT_EQ(F.fills("own"), "");
}

TEST(Inference, EffectsOfExternalFunctions) {
  Inferred F(R"(
    void f() {
      fopen(null, null)
      SLmalloc(null)
      nobody(null)
    })");
  auto EffectOf = [&](unsigned Nth) {
    const FunctionInfo &In = F.program().function(F.function("f"));
    return F.Known.effect(F.program().entity(In, In.Body->Body[Nth].A)).What;
  };
  EXPECT_EQ(EffectOf(0), Effect::Open);
  EXPECT_EQ(EffectOf(1), Effect::Allocate); // Libraries name their own after those of libc.
  EXPECT_EQ(EffectOf(2), Effect::Unknown);
}

TEST(Inference, CalleesAndCallers) {
  Inferred F(R"(
    void leaf() {
    }
    void f(code *hook) {
      leaf()
      leaf()
      puts(null)
      (*hook)()
    })");
  EXPECT_EQ(F.functions(F.Known.callees(F.function("f"))), "leaf");
  EXPECT_EQ(F.Known.callees(F.function("f")).size(), 1u);
  ASSERT_EQ(F.Known.callers(F.function("leaf")).size(), 2u);
  EXPECT_EQ(F.Known.callers(F.function("leaf"))[0].Caller, F.function("f"));
  EXPECT_TRUE(F.Known.callers(F.function("f")).empty());
}

TEST(Inference, GlobalsThatKeepWhatAFunctionAllocates) {
  Inferred F(R"(
    global void *table
    global void *given
    void set_up(void *old) {
      void *p = malloc(null)
      q = &table
      *q = p
      r = &given
      *r = old
    })");
  EXPECT_EQ(F.Known.setsUp(F.function("set_up")), std::set<GlobalId>({F.global("table")}));
}

TEST(Inference, MakesBehindThePointerToAPointer) {
  Inferred F(R"(
    struct list { list *next; }
    void makes(list **where) {
      list *l = list_new()
      *where = l
    }
    void moves(list **where, list *l) {
      list *unused = list_new()
      *where = l
    }
    void fills(list *where) {
      list *l = list_new()
      *where = l
    })");
  EXPECT_TRUE(F.Known.makesBehind(F.function("makes")));
  EXPECT_FALSE(F.Known.makesBehind(F.function("moves")));
  EXPECT_FALSE(F.Known.makesBehind(F.function("fills")));
}

TEST(Inference, RegistersBehindArithmetic) {
  Inferred F(R"(
    void f(char *a, char *b, char **c) {
      char *p = a + 1
      char *q = p + ?
      char *r = (char *)q
      char *s = *c
    })");
  const facts::Function &Body = *F.program().function(F.function("f")).Body;
  EXPECT_EQ(parametersBehind(Body, F.reg("f", "r")), std::vector<unsigned>({0}));
  EXPECT_EQ(parametersBehind(Body, F.reg("f", "b")), std::vector<unsigned>({1}));
  EXPECT_TRUE(parametersBehind(Body, F.reg("f", "s")).empty()); // Loads are not looked through.
}

} // namespace
