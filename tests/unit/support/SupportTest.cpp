// Tests of src/support: what a user sees on stderr, and what is left on disk.
#include "InFolder.h"

#include "support/Diagnostics.h"
#include "support/Files.h"
#include "support/Process.h"
#include "support/Signals.h"
#include "support/Suggest.h"

#include <csignal>
#include <cstdlib>

using namespace nvmove::support;

namespace {

using FilesTest = InFolder;
using DiagnosticsTest = InFolder;

std::string print(Severity What, const Place &Where, llvm::StringRef Text, bool Color = false) {
  std::string Out;
  llvm::raw_string_ostream OS(Out);
  OS.enable_colors(Color);
  SourceLines Sources;
  printDiagnostic(OS, Color, Sources, What, Where, Text);
  return Out;
}

TEST_F(FilesTest, WritesWholeFile) {
  put("a", "one");
  put("a", "two");
  EXPECT_EQ(get("a"), "two");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FilesTest, FailureLeavesNothingBehind) {
  llvm::Error E = writeFile(path("none/a"), [](llvm::raw_ostream &OS) { OS << "x"; });
  ASSERT_TRUE(static_cast<bool>(E));
  EXPECT_NE(toString(std::move(E)).find("No such file"), std::string::npos);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(FilesTest, FullDeviceIsAnError) {
  llvm::Error E = writeFile("/dev/full", [](llvm::raw_ostream &OS) { OS << "x"; });
  ASSERT_TRUE(static_cast<bool>(E));
  EXPECT_NE(toString(std::move(E)).find("No space left"), std::string::npos);
}

TEST_F(FilesTest, InterruptRemovesTheUnfinishedFile) {
  auto Interrupted = [this] {
    installInterruptHandler();
    llvm::consumeError(writeFile(path("a"), [](llvm::raw_ostream &OS) {
      OS << "half";
      OS.flush();
      raise(SIGINT);
    }));
  };
  EXPECT_EXIT(Interrupted(), testing::ExitedWithCode(130), "");
  EXPECT_EQ(entries(), 0u);
}

TEST_F(FilesTest, FolderIsAnError) {
  llvm::Error E = writeFile(Folder, [](llvm::raw_ostream &OS) { OS << "x"; });
  ASSERT_TRUE(static_cast<bool>(E));
  llvm::consumeError(std::move(E));
}

TEST_F(FilesTest, CacheDirectoryFollowsTheEnvironment) {
  setenv("NVMOVE_CACHE_DIR", "/own", 1);
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(cacheDirectory(), "/own");
  unsetenv("NVMOVE_CACHE_DIR");
  EXPECT_EQ(cacheDirectory(), "/xdg/nvmove");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/somewhere", 1);
  EXPECT_EQ(cacheDirectory(), "/somewhere/.cache/nvmove");
  unsetenv("XDG_CACHE_HOME");
}

TEST(Paths, AreMadeAbsolute) {
  EXPECT_EQ(absolutePath("../b/./c.h", "/x/a"), "/x/b/c.h");
  EXPECT_EQ(absolutePath("/y/c.h", "/x/a"), "/y/c.h");
}

TEST_F(DiagnosticsTest, ShowsLineAndCaret) {
  put("a.c", "int a;\n\tint *b = a;\n");
  EXPECT_EQ(print(Severity::Error, {path("a.c"), 2, 12}, "no"),
            path("a.c") + ":2:12: error: no\n"
                          "    2 |         int *b = a;\n"
                          "      |                   ^\n");
}

TEST_F(DiagnosticsTest, CutsLongLines) {
  put("a.c", std::string(10000, 'x') + "@" + std::string(10000, 'y') + "\n");
  std::string Text = print(Severity::Note, {path("a.c"), 1, 10001}, "here");
  EXPECT_LT(Text.size(), 400u);
  llvm::SmallVector<llvm::StringRef> Lines;
  llvm::StringRef(Text).split(Lines, '\n');
  EXPECT_EQ(Lines[1].find('@'), Lines[2].find('^'));
}

TEST_F(DiagnosticsTest, SurvivesPlacesThatDoNotExist) {
  put("a.c", "int a;");
  EXPECT_EQ(print(Severity::Error, {path("a.c"), 7, 3}, "no"), path("a.c") + ":7:3: error: no\n");
  EXPECT_EQ(print(Severity::Error, {path("gone.c"), 1, 1}, "no"),
            path("gone.c") + ":1:1: error: no\n");
  EXPECT_EQ(print(Severity::Warning, {}, "no"), "nvmove: warning: no\n");
  std::string Beyond = print(Severity::Error, {path("a.c"), 1, 99}, "no");
  EXPECT_NE(Beyond.find("^"), std::string::npos);
}

TEST_F(DiagnosticsTest, ColorsOnlyWhenAsked) {
  EXPECT_EQ(print(Severity::Error, {}, "no").find('\033'), std::string::npos);
  EXPECT_NE(print(Severity::Error, {}, "no", true).find('\033'), std::string::npos);
}

TEST_F(DiagnosticsTest, QuietKeepsErrorsAndTheirNotes) {
  std::string Out;
  llvm::raw_string_ostream OS(Out);
  Diagnostics D(OS, false, /*Quiet=*/true);
  D.warning("w");
  D.note("of w");
  D.error("e");
  D.note("of e");
  EXPECT_EQ(Out, "nvmove: error: e\nnvmove: note: of e\n");
  EXPECT_EQ(D.errors(), 1u);
}

TEST(Suggest, FindsTheNearest) {
  std::vector<std::string> Known = {"rdbSave", "rdbLoad", "rdbLoadObject", "main", "rdbLoad"};
  EXPECT_EQ(nearest("rdbLaod", Known), (std::vector<std::string>{"rdbLoad"}));
  EXPECT_EQ(nearest("RDBLOAD", Known).front(), "rdbLoad");
  EXPECT_TRUE(nearest("zzzzzzz", Known).empty());
  EXPECT_EQ(didYouMean({"a", "b", "c"}), "; did you mean 'a', 'b' or 'c'?");
  EXPECT_EQ(didYouMean({}), "");
}

TEST(Process, KnowsItself) {
  EXPECT_GT(peakMemoryBytes(), 1000000u);
  EXPECT_EQ(threadCount(3), 3u);
  EXPECT_GE(threadCount(0), 1u);
  EXPECT_FALSE(executableIdentity().empty());
}

} // namespace
