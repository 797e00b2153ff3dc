// A test fixture with a folder of its own that goes away with the test.
#pragma once

#include "support/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <string>

class InFolder : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("nvmove-unit", Folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(Folder); }

  std::string path(llvm::StringRef Name) { return (Folder + "/" + Name).str(); }

  void put(llvm::StringRef Name, llvm::StringRef Text) {
    ASSERT_FALSE(llvm::errorToBool(
        nvmove::support::writeFile(path(Name), [&](llvm::raw_ostream &OS) { OS << Text; })));
  }

  std::string get(llvm::StringRef Name) {
    auto Text = llvm::MemoryBuffer::getFile(path(Name));
    return Text ? (*Text)->getBuffer().str() : "<missing>";
  }

  size_t entries(llvm::StringRef Name = ".") {
    std::error_code Error;
    size_t Count = 0;
    for (llvm::sys::fs::directory_iterator I(path(Name), Error), End; !Error && I != End;
         I.increment(Error))
      ++Count;
    return Count;
  }

  llvm::SmallString<128> Folder;
};
