// Tests of src/scan/FactsCache: it may forget, but it may never answer wrongly.
#include "InFolder.h"

#include "scan/FactsCache.h"

#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

using namespace nvmove;
using namespace nvmove::scan;

namespace {

class FactsCacheTest : public InFolder {
protected:
  void SetUp() override {
    InFolder::SetUp();
    put("a.c", "int a;");
    put("a.h", "int b;");
    waitForNextTick();
  }

  /// Files written before this are older than a cache made after it.
  static void waitForNextTick() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

  CompileCommand command(llvm::StringRef Flag = "-O2") {
    CompileCommand C;
    C.Directory = std::string(Folder);
    C.File = path("a.c");
    C.Arguments = {"cc", Flag.str(), "a.c"};
    return C;
  }

  Recording recording() {
    Recording R;
    R.Unit.MainFile = path("a.c");
    R.Unit.Strings = {"", "mark"};
    R.Unit.Lines = 7;
    R.Inputs = {path("a.c"), path("a.h")};
    R.Absent = {path("first/a.h"), path("b.h")};
    return R;
  }

  /// A fresh object each time, as in a new run.
  bool hits(llvm::StringRef Flag = "-O2") {
    FactsCache Cache(path("cache"), nullptr);
    std::optional<Remembered> Known = Cache.lookup(command(Flag));
    if (Known) {
      EXPECT_EQ(Known->Unit.Lines, 7u);
      EXPECT_EQ(Known->Inputs, recording().Inputs);
    }
    return Known.has_value();
  }

  void store(llvm::StringRef Flag = "-O2") {
    FactsCache Cache(path("cache"), nullptr);
    Cache.store(command(Flag), recording());
  }

  /// Sets a file's modification time; the inode's change time cannot be set.
  void setTimes(llvm::StringRef Name, time_t Seconds) {
    struct timespec Times[2] = {{Seconds, 0}, {Seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path(Name).c_str(), Times, 0), 0);
  }
};

TEST_F(FactsCacheTest, AnswersWhatWasStored) {
  EXPECT_FALSE(hits());
  store();
  EXPECT_TRUE(hits());
  EXPECT_FALSE(hits("-O3"));
}

TEST_F(FactsCacheTest, ChangedHeaderIsNoHit) {
  store();
  put("a.h", "int c;");
  EXPECT_FALSE(hits());
  put("a.h", "int b;"); // The old content again.
  EXPECT_TRUE(hits());
}

TEST_F(FactsCacheTest, SameSizeAndTimeButOtherContentIsNoHit) {
  setTimes("a.h", 1000000000);
  waitForNextTick();
  store();
  put("a.h", "int x;");
  setTimes("a.h", 1000000000);
  EXPECT_FALSE(hits());
}

TEST_F(FactsCacheTest, RemovedHeaderIsNoHit) {
  store();
  llvm::sys::fs::remove(path("a.h"));
  EXPECT_FALSE(hits());
}

TEST_F(FactsCacheTest, InputChangedDuringTheRunIsNotStored) {
  FactsCache Cache(path("cache"), nullptr);
  waitForNextTick();
  put("a.h", "int z;");
  Cache.store(command(), recording());
  EXPECT_FALSE(hits());
}

TEST_F(FactsCacheTest, InputChangedAfterItWasLookedAtIsNotStored) {
  store();
  waitForNextTick();
  FactsCache Cache(path("cache"), nullptr);
  put("a.c", "int changed;");
  EXPECT_FALSE(Cache.lookup(command())); // Remembers the stamps.
  put("a.h", "int q;");
  Cache.store(command(), recording());
  put("a.h", "int b;");
  EXPECT_FALSE(hits());
}

TEST_F(FactsCacheTest, WarnsOnceWhenItCannotBeWritten) {
  put("cache", "a file is in the way");
  unsigned Warnings = 0;
  waitForNextTick();
  FactsCache Cache(path("cache"), [&](const std::string &) { ++Warnings; });
  Cache.store(command(), recording());
  Cache.store(command("-O3"), recording());
  EXPECT_EQ(Warnings, 1u);
}

TEST_F(FactsCacheTest, EveryDamagedEntryIsIgnored) {
  store();
  std::error_code Error;
  std::string Entry;
  for (llvm::sys::fs::directory_iterator I(path("cache"), Error), End; I != End; I.increment(Error))
    Entry = I->path();
  std::string Whole = (*llvm::MemoryBuffer::getFile(Entry))->getBuffer().str();
  std::string Name = "cache/" + llvm::sys::path::filename(Entry).str();
  for (size_t I = 0; I < Whole.size(); ++I) {
    std::string Damaged = Whole;
    Damaged[I] = static_cast<char>(Damaged[I] ^ 0x5a);
    put(Name, Damaged);
    EXPECT_FALSE(hits()) << "byte " << I << " of " << Whole.size();
    put(Name, Whole.substr(0, I));
    EXPECT_FALSE(hits()) << "cut to " << I << " of " << Whole.size();
  }
  put(Name, Whole);
  EXPECT_TRUE(hits());
}

TEST_F(FactsCacheTest, ForgetsWhenAMissingFileAppears) {
  store();
  EXPECT_TRUE(hits());
  put("b.h", "int c;");
  EXPECT_FALSE(hits());
}

TEST_F(FactsCacheTest, ForgetsWhenAMissingFolderAppears) {
  store();
  EXPECT_TRUE(hits());
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("first")));
  EXPECT_FALSE(hits());
}

TEST_F(FactsCacheTest, StoresNothingWhenAMissingFileAppearedMeanwhile) {
  put("b.h", "int c;");
  store();
  EXPECT_FALSE(hits());
}

} // namespace
