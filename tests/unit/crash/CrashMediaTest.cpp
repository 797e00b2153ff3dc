// What a crash may leave of a line (src/crash/Media.h), event by event; and failure points.
#include "crash/FailurePoints.h"
#include "crash/Media.h"
#include "crash/Walk.h"

#include <gtest/gtest.h>

using namespace nvmove::crash;

namespace {

constexpr uint64_t Line = 3;
const std::string Ones(LineSize, '1'), Twos(LineSize, '2'), Zeros(LineSize, '\0');

class CrashMedia : public testing::Test {
protected:
  CrashMedia() {
    T.Image = llvm::MemoryBuffer::getMemBufferCopy(std::string(4096, '\0'));
    T.Size = T.SizeMax = 4096;
    M = llvm::cantFail(Media::make(T));
  }

  void apply(nvm_trace_kind Kind, llvm::StringRef Bytes, uint64_t Extra = 0) {
    M->apply(++Last, {Kind, 1, Line * LineSize, Extra, Bytes, false}, false);
  }

  /// What the line may hold after a crash now.
  std::vector<std::string> mayHold() const {
    std::vector<std::string> All;
    for (const Choice &C : M->choices())
      for (const Version &V : C.Dirty->Versions)
        All.emplace_back(V.Bytes.data(), LineSize);
    return All;
  }

  Trace T;
  std::unique_ptr<Media> M;
  size_t Last = 0;
};

TEST_F(CrashMedia, EachHalfOfAStreamedLineMayArriveAlone) {
  apply(NVM_TRACE_STREAM, Ones);
  std::string Lower = Ones.substr(0, 32) + Zeros.substr(32),
              Upper = Zeros.substr(32) + Ones.substr(32);
  EXPECT_EQ(mayHold(), (std::vector<std::string>{Zeros, Upper, Lower, Ones}));
  M->fence(1);
  EXPECT_TRUE(mayHold().empty());
}

TEST_F(CrashMedia, AWholeLineThatIsStoredInPlaceIsStreamed) {
  apply(NVM_TRACE_LINE, Ones, UINT64_MAX);
  EXPECT_EQ(mayHold().size(), 4u);
}

TEST_F(CrashMedia, PartsOfALineArriveWordByWord) {
  apply(NVM_TRACE_LINE, Ones, 0xff0000000000ff0f);
  std::string First = Zeros, Second, Third;
  First.replace(0, 4, "1111");
  Second = First;
  Second.replace(8, 8, "11111111");
  Third = Second;
  Third.replace(56, 8, "11111111");
  EXPECT_EQ(mayHold(), (std::vector<std::string>{Zeros, First, Second, Third}));
}

TEST_F(CrashMedia, AnotherThreadsFenceGuaranteesNothing) {
  apply(NVM_TRACE_FLUSH, Twos);
  size_t Before = mayHold().size();
  M->fence(2);
  EXPECT_EQ(mayHold().size(), Before);
}

/// The states of a process that dies in a store.
std::vector<std::string> inProcess(nvm_trace_kind Kind, llvm::StringRef Bytes) {
  Trace T;
  T.Image = llvm::MemoryBuffer::getMemBufferCopy(std::string(4096, '\0'));
  T.Size = T.SizeMax = 4096;
  auto M = llvm::cantFail(Media::make(T, /*InOrder=*/true));
  M->apply(1, {Kind, 1, Line * LineSize, UINT64_MAX, Bytes, false}, false);
  std::vector<std::string> States;
  Walk(*M, {}, 1, [&](const Choices &All) {
    M->put(All);
    States.emplace_back(M->data() + Line * LineSize, Bytes.size());
    M->takeBack(All);
  }).latest();
  return States;
}

TEST(CrashWalk, AProcessMayDieBehindEachWordOfAStore) {
  for (nvm_trace_kind Kind : {NVM_TRACE_STORE, NVM_TRACE_STREAM, NVM_TRACE_LINE, NVM_TRACE_FLUSH}) {
    std::vector<std::string> States = inProcess(Kind, Ones);
    ASSERT_EQ(States.size(), LineSize / 8);
    for (size_t Word = 0; Word < States.size(); ++Word)
      EXPECT_EQ(States[Word], Ones.substr(0, 8 * (Word + 1)) + Zeros.substr(8 * (Word + 1)));
  }
}

TEST(CrashWalk, OfALongStoreItTakesSomeWords) {
  std::vector<std::string> States = inProcess(NVM_TRACE_STORE, std::string(2048, '1'));
  EXPECT_GT(States.size(), 30u);
  EXPECT_LE(States.size(), Limits().Words + 1);
  EXPECT_EQ(States.back(), std::string(2048, '1'));
}

TEST(CrashWalk, AMomentOfASampleLiesAlsoWithinAStore) {
  Trace T;
  T.Image = llvm::MemoryBuffer::getMemBufferCopy(std::string(4096, '\0'));
  T.Size = T.SizeMax = 4096;
  auto M = llvm::cantFail(Media::make(T));
  std::string Bytes(1024, '1');
  M->apply(1, {NVM_TRACE_STORE, 1, 0, 0, Bytes, false}, false);
  std::set<std::string> States;
  Walk(*M, {1, 0, 1024, 64}, 1, [&](const Choices &All) {
    M->put(All);
    States.emplace(M->data(), Bytes.size());
    M->takeBack(All);
  }).epoch();
  for (size_t Word = 0; Word < Bytes.size(); Word += 8)
    EXPECT_TRUE(States.count(Bytes.substr(0, Word) + std::string(Bytes.size() - Word, '\0')));
}

TEST(CrashFailurePoints, AreCountedBehindTheirPlace) {
  FailurePoints Points(2);
  auto Commit = [&](unsigned Thread, uint64_t Site) {
    Points.pass({NVM_TRACE_COMMITTING, Thread, 0, Site, {}, false});
    bool First = Points.enter(Thread);
    return First + Points.enter(Thread);
  };
  EXPECT_EQ(Commit(1, 7), 2);
  EXPECT_EQ(Commit(2, 7), 2); // another thread's is the same
  EXPECT_EQ(Commit(1, 7), 0);
  EXPECT_EQ(Commit(1, 8), 2);
  FailurePoints Always(0);
  for (int I = 0; I < 5; ++I) {
    Always.pass({NVM_TRACE_COMMITTING, 1, 0, 7, {}, false});
    EXPECT_TRUE(Always.enter(1));
  }
}

} // namespace
