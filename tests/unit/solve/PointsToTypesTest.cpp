// What casts and records let pass (src/solve/pointsto/PointsTo.h, RecordRules.cpp).
#include "PointsToRun.h"

#include <gtest/gtest.h>

using namespace nvmove;
using namespace nvmove::solve;

namespace {

struct TypesEngine : PointsToRun {
  explicit TypesEngine(const std::string &Text)
      : PointsToRun(R"(
    struct base { base *next; ulong kind; }
    struct derived { base *next; ulong kind; ulong more; }
    struct outer { ulong mark; base inner; }
    struct first { base inner; ulong mark; }
    struct item { char[8] key; ulong value; }
    struct opaque;
)" + Text) {}
};

TEST(PointsToTypes, ACastToWhatItIsNotStopsAnObject) {
  TypesEngine R(R"(
    void f() {
      void *i = new_item()
      item *same = (item *)i
      base *wrong = (base *)i
      opaque *unknown = (opaque *)i
      void *u = new()
      base *untyped = (base *)u
    })");
  EXPECT_EQ(R.of("same"), "i");
  EXPECT_EQ(R.of("wrong"), "");
  EXPECT_EQ(R.of("unknown"), "i");
  EXPECT_EQ(R.of("untyped"), "u");
}

TEST(PointsToTypes, ACastToAPartOrAnExtensionPasses) {
  TypesEngine R(R"(
    void f() {
      void *d = new_derived()
      base *up = (base *)d
      void *b = new_base()
      derived *down = (derived *)b
      void *w = new_first()
      base *begins = (base *)w
      first *around = (first *)b
      outer *not_around = (outer *)b
      void *o = new_outer()
      base *not_there = (base *)o
      p = o + 8
      base *there = (base *)p
    })");
  EXPECT_EQ(R.of("up"), "d");
  EXPECT_EQ(R.of("down"), "b");
  EXPECT_EQ(R.of("begins"), "w");
  EXPECT_EQ(R.of("around"), "b");
  EXPECT_EQ(R.of("not_around"), "");
  EXPECT_EQ(R.of("not_there"), "");
  EXPECT_EQ(R.of("there"), "o+8");
}

TEST(PointsToTypes, LoadsAndFieldsAreFilteredToo) {
  TypesEngine R(R"(
    void f() {
      local void *v
      p = &v
      void *i = new_item()
      *p = i
      base *loaded = *p
      item *right = *p
      base *lies = i
      field = &lies->kind
    })");
  EXPECT_EQ(R.of("loaded"), "");
  EXPECT_EQ(R.of("right"), "i");
  EXPECT_EQ(R.of("lies"), "i");
  EXPECT_EQ(R.of("field"), "");
}

TEST(PointsToTypes, CharactersBecomeARecordByACastOfBytesOnly) {
  TypesEngine R(R"(
    void f() {
      char *t = text()
      base *cast = (base *)t
      void *v = t
      base *guessed = (base *)v
    })");
  EXPECT_EQ(R.of("cast"), "t");
  EXPECT_EQ(R.of("guessed"), "");
}

TEST(PointsToTypes, FieldsOfCharactersAreNone) {
  TypesEngine R(R"(
    void f() {
      base *t = text()
      field = &t->kind
    })");
  EXPECT_EQ(R.of("field"), "");
}

TEST(PointsToTypes, AStringIsNoRecordUnlessTheProgramSaysSo) {
  TypesEngine R(R"(
    void f(base *old, void *older) {
      char *assigned = (implicit char *)old
      char *computed = (char *)old
      p = &old->kind
      char *within = (implicit char *)p
      char *untyped = (implicit char *)older
      base *b = new_base()
      char *born = (implicit char *)b
    })");
  EXPECT_EQ(R.of("assigned"), ""); // "char *p = value;" unpacks a string.
  EXPECT_EQ(R.of("computed"), "old base");
  EXPECT_EQ(R.of("within"), "old base+?");
  EXPECT_EQ(R.of("untyped"), "old void");
  EXPECT_EQ(R.of("born"), "b"); // Memory is filled where it is made.
}

TEST(PointsToTypes, OlderMemoryTakesTheTypeOfTheCast) {
  TypesEngine R(R"(
    void f(void *old) {
      base *b = (base *)old
      item *i = (item *)old
    })");
  EXPECT_EQ(R.of("b"), "old base");
  EXPECT_EQ(R.of("i"), "old item");
}

TEST(PointsToTypes, WhatMemoryIsLookedAtAs) {
  TypesEngine R(R"(
    void f() {
      void *u = new()
      base *b = (base *)u
      item *i = u
      p = &i->value
      void *never = new()
    })");
  const Object &Seen = R.graph().object(R.only("u").In);
  EXPECT_EQ(Seen.Views.size(), 2u);
  EXPECT_EQ(Seen.Views.count(R.record("base")), 1u);
  EXPECT_EQ(Seen.Views.count(R.record("item")), 1u);
  EXPECT_TRUE(R.graph().object(R.only("never").In).Views.empty());
}

constexpr const char *StoreAsBase = R"(
    void f() {
      local derived *v
      p = &v
      base *b = MAKE()
      *p = b : base *
      derived *d = *p
      void *any = *p
      base *plain = b
    })";

/// The function above, with the maker of its object.
std::string making(llvm::StringRef Maker) {
  std::string Text = StoreAsBase;
  return Text.replace(Text.find("MAKE"), 4, Maker.str());
}

TEST(PointsToTypes, OneAllocationMakesSeveralExtensionsOfABase) {
  TypesEngine R(making("guess_base"));
  EXPECT_EQ(R.of("d"), "a derived");
  EXPECT_EQ(R.of("plain"), "b");
  EXPECT_NE(R.only("d").In, R.only("b").In);
}

TEST(PointsToTypes, AnObjectOfKnownSizeIsNoneOfThem) {
  EXPECT_EQ(TypesEngine(making("new_base")).of("d"), "b");
  EXPECT_EQ(TypesEngine(making("new_derived")).of("d"), "b");
  EXPECT_EQ(TypesEngine(making("new_item")).of("any"), "");
}

TEST(PointsToTypes, APointerToSomewhereMakesNone) {
  TypesEngine R(R"(
    void f() {
      local derived *v
      p = &v
      base *b = guess_base()
      base *somewhere = b + ?
      *p = somewhere : base *
      derived *d = *p
    })");
  EXPECT_EQ(R.of("d"), "b+?");
}

TEST(PointsToTypes, AnExtensionBeginsWithWhatIsPutIntoItsBase) {
  TypesEngine R(R"(
    void f() {
      local derived *v
      p = &v
      base *b = guess_base()
      q = &b->next
      base *n = new_base()
      *q = n
      *p = b : base *
      derived *d = *p
      r = &d->next
      base *next = *r
    })");
  EXPECT_EQ(R.of("next"), "n");
}

TEST(PointsToTypes, ABlockBehindItsHeader) {
  TypesEngine R(R"(
    struct header { ulong length; }
    void f() {
      void *b = new_header_item()
      p = b + 8
      item *i = (item *)p
      header *h = (header *)b
      item *not_at_start = (item *)b
    })");
  EXPECT_EQ(R.of("i"), "a item");
  EXPECT_EQ(R.of("h"), "b");
  EXPECT_EQ(R.of("not_at_start"), "");
}

TEST(PointsToTypes, ABlockHasNoHeaderUnlessItIsSteppedOver) {
  TypesEngine R(R"(
    struct header { ulong length; }
    void f() {
      void *b = new_header_item()
      p = b + 4
      void *one = new_item()
      q = one + 16
    })");
  EXPECT_EQ(R.of("p"), "b+?");
  EXPECT_EQ(R.of("q"), "one+?");
  EXPECT_EQ(R.graph().object(R.only("p").In).Behind, solve::None);
}

} // namespace
