// Tests of src/scan/CommandLine and the Recorder behind it: no word of a command writes or prints.
#include "InFolder.h"

#include "scan/CommandLine.h"
#include "scan/Scanner.h"

#include "clang/Driver/Options.h"
#include "llvm/ADT/STLExtras.h"

#include <thread>

using namespace nvmove;
using namespace nvmove::scan;

namespace {

class CommandLineTest : public InFolder {
protected:
  void SetUp() override {
    InFolder::SetUp();
    put("a.c", "int a;\n");
  }

  CompileCommand command(std::vector<std::string> Words) {
    CompileCommand C;
    C.Directory = std::string(Folder);
    C.File = path("a.c");
    C.Arguments = {"cc", "-c", "a.c"};
    llvm::append_range(C.Arguments, Words);
    return C;
  }

  /// Every way in which a command can hand \p Name and \p Value to Clang.
  static std::vector<std::vector<std::string>> spellings(const std::string &Name,
                                                         const std::string &Value) {
    return {{Name},
            {Name + Value},
            {Name, Value},
            {"-Xclang", Name},
            {"-Xclang", Name + Value},
            {"-Xclang", Name, "-Xclang", Value}};
  }

  /// A command for every option of Clang's table in every spelling.
  std::vector<CompileCommand> everyOption() {
    std::vector<CompileCommand> Commands;
    const llvm::opt::OptTable &Table = clang::driver::getDriverOptTable();
    for (unsigned Id = 1; Id <= Table.getNumOptions(); ++Id) {
      llvm::opt::Option Each = Table.getOption(Id);
      if (Each.getKind() == llvm::opt::Option::GroupClass ||
          Each.getKind() == llvm::opt::Option::InputClass ||
          Each.getKind() == llvm::opt::Option::UnknownClass)
        continue;
      std::string Name = Each.getPrefixedName().str();
      if (Name.empty() || Name[0] != '-')
        continue;
      bool Flag = Each.getKind() == llvm::opt::Option::FlagClass;
      for (auto &Words : spellings(Name, "written"))
        if (!Flag || !llvm::is_contained(Words.back(), 'w') || Words.back() == Name)
          if (CompileCommand C = command(Words); !llvm::errorToBool(simplify(C, "")))
            Commands.push_back(std::move(C));
    }
    return Commands;
  }

  /// An option has six spellings or two, so of 5 that follow each other another one is kept each time.
  static void keepOneOf(size_t Few, std::vector<CompileCommand> &Commands) {
    size_t Kept = 0;
    for (size_t I = 0; I < Commands.size(); I += Few)
      std::swap(Commands[Kept++], Commands[I]);
    Commands.resize(Kept);
  }
};

// In a process of its own: of some options Clang's driver dies, and what it held is lost. A scan
// survives that.
TEST_F(CommandLineTest, NoOptionOfClangWritesOrPrints) {
  std::vector<CompileCommand> Commands = everyOption();
  ASSERT_GT(Commands.size(), 3000u);
  if (!std::getenv("NVMOVE_TEST_LONG"))
    keepOneOf(5, Commands);
  put("written", "as it was");
  size_t Before = entries();
  EXPECT_EXIT(
      {
        testing::internal::CaptureStdout();
        ScannerOptions Options;
        Options.Threads = std::max(1u, std::thread::hardware_concurrency());
        Scanned Result = scanUnits(Commands, Options);
        llvm::outs().flush();
        bool Silent = testing::internal::GetCapturedStdout().empty();
        bool Tried = Result.Units.size() > Commands.size() / 4;
        _exit(!Silent ? 1 : !Tried ? 2 : 0);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EQ(get("written"), "as it was");
  EXPECT_EQ(entries(), Before);
}

TEST_F(CommandLineTest, WordsForThePreprocessorStandAlone) {
  CompileCommand C = command({"-Wp,-MD,a.d,-DX=1", "-Xpreprocessor", "-DY", "-Wp,-include,b.h"});
  ASSERT_FALSE(llvm::errorToBool(simplify(C, "")));
  std::vector<std::string> Want = {"a.c", "-DX=1", "-DY", "-include", "b.h"};
  EXPECT_EQ(meaningfulWords(C), Want);
}

TEST_F(CommandLineTest, TheDirectoryIsTheOneThatTheCompilerWorksIn) {
  CompileCommand C = command({"-working-directory", "sub", "-o", "b.o"});
  C.File = path("sub/a.c");
  ASSERT_FALSE(llvm::errorToBool(simplify(C, "")));
  EXPECT_EQ(C.Directory, path("sub"));
  EXPECT_EQ(C.Output, path("sub/b.o"));
}

TEST_F(CommandLineTest, EqualMeaningIsEqualFacts) {
  auto Meaning = [&](std::vector<std::string> Words) {
    CompileCommand C = command(std::move(Words));
    EXPECT_FALSE(llvm::errorToBool(simplify(C, "")));
    return meaningOf(C);
  };
  std::string Plain = Meaning({});
  for (std::vector<std::string> Same :
       std::vector<std::vector<std::string>>{{"-fPIC", "-DPIC"},
                                             {"-O2", "-g3"},
                                             {"-Wall", "-o", "x.o"},
                                             {"-MD", "-MF", "a.d"},
                                             {"-Wp,-MMD,a.d"},
                                             {"-pipe", "-fvisibility=hidden"}})
    EXPECT_EQ(Meaning(Same), Plain) << Same[0];
  for (std::vector<std::string> Other :
       std::vector<std::vector<std::string>>{{"-DX"},
                                             {"-Wp,-DX"},
                                             {"-UX"},
                                             {"-std=c99"},
                                             {"-include", "b.h"},
                                             {"-m32"},
                                             {"-Xpreprocessor", "-DX"},
                                             {"-fshort-enums"}})
    EXPECT_NE(Meaning(Other), Plain) << Other[0];
}

TEST_F(CommandLineTest, TextWithAByteOrderMark) {
  EXPECT_EQ(decoded("\xef\xbb\xbf[]"), "[]");
  EXPECT_EQ(decoded(llvm::StringRef("\xff\xfe[\0]\0", 6)), "[]");
  EXPECT_EQ(decoded("[]"), "[]");
}

} // namespace
