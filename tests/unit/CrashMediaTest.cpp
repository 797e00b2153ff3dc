// What a crash may leave of a line (src/crash/Media.h), event by event; and failure points.
#include "crash/FailurePoints.h"
#include "crash/Media.h"

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
