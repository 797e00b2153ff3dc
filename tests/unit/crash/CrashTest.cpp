// Which states are right (src/crash/Transactions.h), on traces of a few events; and names of
// states.
#include "crash/Expected.h"
#include "crash/State.h"

#include <gtest/gtest.h>

using namespace nvmove::crash;

namespace {

/// A trace that a test writes down.
class Written {
public:
  Written &add(unsigned Thread, nvm_trace_kind Kind, uint64_t Place = 0, uint64_t Extra = 0) {
    T.Events.push_back({Kind, Thread, Place, Extra, {}, false});
    return *this;
  }
  Written &store(unsigned Thread, uint64_t Place, llvm::StringRef Bytes) {
    T.Events.push_back({NVM_TRACE_STORE, Thread, Place, 0, Bytes, true});
    return *this;
  }
  Written &committing(unsigned Thread) { return add(Thread, NVM_TRACE_COMMITTING); }
  Written &commit(unsigned Thread) { return add(Thread, NVM_TRACE_COMMIT); }

  /// Behind all events.
  History atEnd() const {
    History H(T);
    for (size_t At = 0; At < T.Events.size(); ++At)
      H.pass(T, At);
    return H;
  }

private:
  Trace T;
};

/// The byte at \p Place in each alternative of a group, '-' where it is not compared.
std::string bytesAt(const Group &G, uint64_t Place) {
  std::string Text;
  for (const Alternative &A : G.Alternatives) {
    char Byte = '-';
    for (const Wanted &W : A.Lines)
      if (W.Line == Place / LineSize && W.Mask >> Place % LineSize & 1)
        Byte = W.Bytes[Place % LineSize];
    Text += Byte;
  }
  return Text;
}

constexpr uint64_t A = 1000, B = 2000, Lock = 77;

TEST(CrashHistory, NothingBeforeTheCommitBegins) {
  Written W;
  W.store(1, A, "x");
  EXPECT_TRUE(W.atEnd().open().empty());
  EXPECT_TRUE(W.atEnd().lines().empty());
}

TEST(CrashHistory, CommittedDataIsInEveryState) {
  Written W;
  W.store(1, A, "x").committing(1).commit(1);
  History H = W.atEnd();
  EXPECT_TRUE(groupsOf(H).empty());
  ASSERT_EQ(H.lines().size(), 1u);
  EXPECT_EQ(H.lines().begin()->second.Bytes[A % LineSize], 'x');
}

TEST(CrashHistory, CommittingIsAllOrNothing) {
  Written W;
  W.store(1, A, "o").store(1, B, "o").committing(1).commit(1);
  W.store(1, A, "n").store(1, B, "n").committing(1);
  std::vector<Group> Groups = groupsOf(W.atEnd());
  ASSERT_EQ(Groups.size(), 1u);
  EXPECT_EQ(bytesAt(Groups[0], A), "on");
  EXPECT_EQ(bytesAt(Groups[0], B), "on");
}

TEST(CrashHistory, AHandlersStoreBehindTheCommitsBeginningIsOfTheNextOne) {
  Written W;
  W.store(1, A, "x").committing(1).store(1, B, "y");
  std::vector<Group> Groups = groupsOf(W.atEnd());
  ASSERT_EQ(Groups.size(), 1u);
  EXPECT_EQ(bytesAt(Groups[0], A), "-x");
  EXPECT_EQ(bytesAt(Groups[0], B), "--"); // in none
  W.commit(1);
  EXPECT_EQ(W.atEnd().lines().count(B / LineSize), 0u);
  W.committing(1).commit(1);
  EXPECT_EQ(W.atEnd().lines().count(B / LineSize), 1u);
}

TEST(CrashHistory, ThreadsAreIndependent) {
  Written W;
  W.store(1, A, "x").store(2, B, "y").committing(2).committing(1);
  std::vector<Group> Groups = groupsOf(W.atEnd());
  ASSERT_EQ(Groups.size(), 2u);
  EXPECT_EQ(Groups[0].Alternatives.size(), 2u);
  EXPECT_EQ(Groups[1].Alternatives.size(), 2u);
}

TEST(CrashHistory, ATransactionIsNotThereWithoutWhatItDependsOn) {
  Written W;
  W.store(1, A, "x").add(1, NVM_TRACE_RELEASE, Lock);
  W.add(2, NVM_TRACE_ACQUIRE, Lock).store(2, B, "y").committing(1).committing(2);
  std::vector<Group> Groups = groupsOf(W.atEnd());
  ASSERT_EQ(Groups.size(), 1u);
  EXPECT_EQ(bytesAt(Groups[0], A), "-xx"); // none, the first, both
  EXPECT_EQ(bytesAt(Groups[0], B), "--y");
}

TEST(CrashHistory, TheLastToCommitHasTheByte) {
  Written W;
  W.store(1, A, "x").store(2, A, "y").committing(2).committing(1).commit(1).commit(2);
  History H = W.atEnd();
  EXPECT_EQ(H.commits(), 2u);
  EXPECT_EQ(H.lines().begin()->second.Bytes[A % LineSize], 'y');
}

TEST(CrashHistory, ADependenceGoesOnThroughAThreadThatStoresNothing) {
  Written W;
  W.store(1, A, "x").add(1, NVM_TRACE_RELEASE, Lock);
  W.add(2, NVM_TRACE_ACQUIRE, Lock).add(2, NVM_TRACE_RELEASE, Lock + 1);
  W.add(3, NVM_TRACE_ACQUIRE, Lock + 1).store(3, B, "y").committing(1).committing(3);
  std::vector<Group> Groups = groupsOf(W.atEnd());
  ASSERT_EQ(Groups.size(), 1u);
  EXPECT_EQ(bytesAt(Groups[0], B), "--y");
}

TEST(CrashHistory, WhoeverHasCommittedIsNoLongerDependedOn) {
  Written W;
  W.store(1, A, "x").add(1, NVM_TRACE_RELEASE, Lock).committing(1).commit(1);
  W.add(2, NVM_TRACE_ACQUIRE, Lock).store(2, B, "y").committing(2);
  std::vector<Group> Groups = groupsOf(W.atEnd());
  ASSERT_EQ(Groups.size(), 1u);
  EXPECT_EQ(bytesAt(Groups[0], B), "-y");
}

TEST(CrashHistory, TheSameByteWithoutOrderMayBeAnyOfTheTwo) {
  Written W;
  W.store(1, A, "x").store(2, A, "y").committing(1).committing(2).commit(1);
  EXPECT_EQ(bytesAt(groupsOf(W.atEnd()).at(0), A), "xy");
  Written Both;
  Both.store(1, A, "x").store(2, A, "y").committing(1).committing(2);
  EXPECT_EQ(bytesAt(groupsOf(Both.atEnd()).at(0), A), "-xyy");
}

TEST(CrashHistory, WhatJoinedBelongsToTheOther) {
  Written W;
  W.store(1, A, "x").store(2, B, "y").add(2, NVM_TRACE_JOIN, 0, 5);
  EXPECT_TRUE(W.atEnd().open().empty());
  W.add(1, NVM_TRACE_ADOPT, 0, 5).committing(1);
  std::vector<Group> Groups = groupsOf(W.atEnd());
  ASSERT_EQ(Groups.size(), 1u);
  EXPECT_EQ(bytesAt(Groups[0], A), "-x");
  EXPECT_EQ(bytesAt(Groups[0], B), "-y");
}

TEST(CrashHistory, WhatWasUndoneIsInNoState) {
  Written W;
  W.store(1, A, "x").committing(1).add(1, NVM_TRACE_ABORT);
  History H = W.atEnd();
  EXPECT_TRUE(H.open().empty());
  EXPECT_TRUE(H.lines().empty());
}

TEST(CrashHistory, BytesOfFreeBlocksAreNotCompared) {
  Written W;
  W.add(1, NVM_TRACE_ALLOC, A, 64).store(1, A, "x").committing(1).commit(1);
  W.add(1, NVM_TRACE_FREE, A, 64).committing(1);
  EXPECT_EQ(bytesAt(groupsOf(W.atEnd()).at(0), A), "x-");
  W.commit(1);
  EXPECT_TRUE(W.atEnd().lines().empty());
}

TEST(CrashState, NamesReadBack) {
  for (const char *Name : {"12", "12:9a@0", "0:1@2,ff0@1+recovery", "7+recovery"}) {
    auto S = State::parse(Name);
    ASSERT_TRUE(S) << Name;
    EXPECT_EQ(S->text(), Name);
  }
  for (const char *Name : {"", "x", "12:", "12:9a", "12:9a@", "12:@1", "12,9a@0", "12:zz@0", "-1"})
    EXPECT_FALSE(State::parse(Name)) << Name;
}

} // namespace
