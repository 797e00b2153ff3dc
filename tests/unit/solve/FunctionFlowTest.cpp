// Which functions a pointer may hold (src/solve/summary/FunctionFlow.h), on facts of a few lines.
#include "FactsText.h"

#include "solve/summary/FunctionFlow.h"

#include "llvm/ADT/Twine.h"

#include <gtest/gtest.h>

using namespace nvmove;
using namespace nvmove::solve;

namespace {

constexpr llvm::StringLiteral Handlers = R"(
  struct ops { code *read; code *write; }
  struct hooks { code *read; }
  struct plain { code *read; }
  global code *current
  global code *other
  void first(int n) {
  }
  void second(int n) {
  }
  void third(long n) {
  }
)";

/// Facts behind Handlers, and what flows in them.
struct Flowing : FactsText {
  explicit Flowing(llvm::StringRef Text)
      : FactsText((llvm::Twine(Handlers) + Text).str()), Flow(program()) {}

  std::string at(llvm::StringRef Function, llvm::StringRef Register) const {
    return functions(Flow.at(function(Function), reg(Function, Register)));
  }
  bool knowsTable(llvm::StringRef Function, llvm::StringRef Register) const {
    return Flow.knowsTable(function(Function), reg(Function, Register));
  }

  FunctionFlow Flow;
};

TEST(FunctionFlow, CopiesAndCastsHandOn) {
  Flowing F(R"(
    void f(code *given) {
      a = &first
      b = a
      code *c = (code *)b
      unfed = given
    })");
  EXPECT_EQ(F.at("f", "c"), "first");
  EXPECT_EQ(F.at("f", "unfed"), "");
}

TEST(FunctionFlow, TheOrderOfLinesDoesNotMatter) {
  Flowing F(R"(
    void f() {
      local code *v
      p = &v
      code *early = *p
      a = &first
      *p = a
      b = &second
      *p = b
    })");
  EXPECT_EQ(F.at("f", "early"), "first second");
}

TEST(FunctionFlow, AFieldIsOneSlotForAllObjects) {
  Flowing F(R"(
    void set(ops *mine) {
      a = &first
      p = &mine->read
      *p = a
    }
    void get(ops *theirs) {
      p = &theirs->read
      code *r = *p
      q = &theirs->write
      code *w = *q
    }
    void elsewhere(plain *theirs) {
      p = &theirs->read
      code *r = *p
    })");
  EXPECT_EQ(F.at("get", "r"), "first");
  EXPECT_EQ(F.at("get", "w"), "");
  EXPECT_EQ(F.at("elsewhere", "r"), "");
}

TEST(FunctionFlow, AGlobalIsOneSlot) {
  Flowing F(R"(
    void set() {
      a = &first
      p = &current
      *p = a
    }
    void get() {
      p = &current
      code *c = *p
      q = &other
      code *o = *q
    })");
  EXPECT_EQ(F.at("get", "c"), "first");
  EXPECT_EQ(F.at("get", "o"), "");
}

TEST(FunctionFlow, StaticInitialisersCount) {
  Flowing F(R"(
    start {
      a = &second
      p = &current
      *p = a
    }
    void get() {
      p = &current
      code *c = *p
    })");
  EXPECT_EQ(F.at("get", "c"), "second");
}

TEST(FunctionFlow, ALocalBelongsToItsFunction) {
  Flowing F(R"(
    void f() {
      local code *v
      p = &v
      a = &first
      *p = a
      code *mine = *p
    }
    void g() {
      local code *v
      p = &v
      code *mine = *p
    })");
  EXPECT_EQ(F.at("f", "mine"), "first");
  EXPECT_EQ(F.at("g", "mine"), "");
}

TEST(FunctionFlow, ArgumentsAndResults) {
  Flowing F(R"(
    code *pass(code *given, code *ignored) {
      return given
    }
    void f() {
      a = &first
      b = &second
      code *back = pass(a, b)
    })");
  EXPECT_EQ(F.at("pass", "given"), "first");
  EXPECT_EQ(F.at("pass", "ignored"), "second");
  EXPECT_EQ(F.at("f", "back"), "first");
}

TEST(FunctionFlow, OnlyPointersToFunctionsHold) {
  Flowing F(R"(
    void f() {
      local code *v
      p = &v
      a = &first
      *p = a
      ulong number = *p
    })");
  EXPECT_EQ(F.at("f", "number"), "");
}

TEST(FunctionFlow, UnknownMemoryHoldsNothing) {
  Flowing F(R"(
    void f(void *where) {
      a = &first
      *where = a
      code *c = *where
      void *made = malloc(null)
      *made = a
      code *d = *made
    })");
  EXPECT_EQ(F.at("f", "c"), "");
  EXPECT_EQ(F.at("f", "d"), "");
}

TEST(FunctionFlow, ATableIsARecordThatHoldsFunctions) {
  Flowing F(R"(
    void f(ops *o, plain *n) {
      a = &first
      p = &o->read
      *p = a
      code *known = *p
      q = &o->write
      code *empty = *q
      r = &n->read
      code *nowhere = *r
      s = &current
      code *variable = *s
    })");
  EXPECT_TRUE(F.knowsTable("f", "known"));
  EXPECT_TRUE(F.knowsTable("f", "empty")); // Some field of its record does: this one never.
  EXPECT_FALSE(F.knowsTable("f", "nowhere"));
  EXPECT_FALSE(F.knowsTable("f", "variable"));
}

TEST(FunctionFlow, BySignatureOnlyOfThoseWhoseAddressIsTaken) {
  Flowing F(R"(
    void never(int n) {
    }
    void f() {
      a = &first
      b = &second
      c = &third
      again = &first
    })");
  auto Like = [&](llvm::StringRef Name) {
    return F.Flow.bySignature(F.program().function(F.function(Name)).Signature);
  };
  EXPECT_EQ(F.functions(Like("never")), "first second");
  EXPECT_EQ(Like("never").size(), 2u); // Each once.
  EXPECT_EQ(F.functions(Like("third")), "third");
  EXPECT_TRUE(Like("f").empty());
  EXPECT_TRUE(F.Flow.bySignature(solve::None).empty());
}

} // namespace
