// Files with holes are read, and keep them.
#include "InFolder.h"

#include "crash/SparseFile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace nvmove;

namespace {

/// On a file system in DRAM, where a page that is read through a mapping takes room.
class SparseFile : public testing::Test {
protected:
  void SetUp() override {
    Fd = mkstemp(Path);
    ASSERT_GE(Fd, 0);
  }
  void TearDown() override {
    close(Fd);
    unlink(Path);
  }
  long blocks() const {
    struct stat Status;
    return fstat(Fd, &Status) ? -1 : Status.st_blocks;
  }

  char Path[64] = "/dev/shm/nvmove-unit.XXXXXX";
  int Fd = -1;
};

TEST_F(SparseFile, IsReadAsItIsAndKeepsItsHoles) {
  constexpr off_t Size = 1 << 20;
  ASSERT_EQ(ftruncate(Fd, Size), 0);
  ASSERT_EQ(pwrite(Fd, "middle", 6, Size / 2 + 5), 6);
  ASSERT_EQ(pwrite(Fd, "e", 1, Size - 1), 1);
  long Before = blocks();
  auto Read = crash::readSparse(Path);
  ASSERT_TRUE(bool(Read));
  llvm::StringRef Text = (*Read)->getBuffer();
  ASSERT_EQ(Text.size(), size_t(Size));
  EXPECT_EQ(Text.find_first_not_of('\0'), size_t(Size / 2 + 5));
  EXPECT_EQ(Text.substr(Size / 2 + 5, 6), "middle");
  EXPECT_EQ(Text.drop_front(Size / 2 + 11).find_first_not_of('\0'), size_t(Size / 2 - 12));
  EXPECT_EQ(blocks(), Before);
}

TEST_F(SparseFile, MayBeEmpty) {
  auto Read = crash::readSparse(Path);
  ASSERT_TRUE(bool(Read));
  EXPECT_EQ((*Read)->getBufferSize(), 0u);
}

TEST_F(SparseFile, IsNamedWhereItIsNotThere) {
  std::string Other = std::string(Path) + ".none";
  EXPECT_EQ(llvm::toString(crash::readSparse(Other).takeError()),
            Other + ": No such file or directory");
}

} // namespace
