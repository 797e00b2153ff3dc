// Options of compilers: see CommandLine.h. What the tables do not name keeps its meaning.
#include "scan/CommandLine.h"

#include "support/Failed.h"
#include "support/Files.h"

#include "clang/Driver/Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace nvmove::scan {

using support::failed;

namespace {

namespace options = clang::driver::options;
namespace path = llvm::sys::path;

/// Options that say what is written, where, or what is shown meanwhile.
constexpr unsigned Writes[] = {
    options::OPT_o,
    options::OPT_c,
    options::OPT_S,
    options::OPT_E,
    options::OPT_M,
    options::OPT_MM,
    options::OPT_MD,
    options::OPT_MMD,
    options::OPT_MP,
    options::OPT_MG,
    options::OPT_MV,
    options::OPT_MF,
    options::OPT_MT,
    options::OPT_MQ,
    options::OPT_MJ,
    options::OPT_gen_cdb_fragment_path,
    options::OPT__serialize_diags,
    options::OPT_save_temps,
    options::OPT_save_temps_EQ,
    options::OPT_save_stats,
    options::OPT_save_stats_EQ,
    options::OPT_ftime_trace,
    options::OPT_ftime_trace_EQ,
    options::OPT_ftime_report,
    options::OPT_ftime_report_EQ,
    options::OPT_fcrash_diagnostics_dir,
    options::OPT_fmodules_cache_path,
    options::OPT_v,
    options::OPT_pipe,
};

/// Options that would have somebody else's code run or read, and mean nothing to a parse.
constexpr unsigned Foreign[] = {
    options::OPT_fplugin_EQ,   options::OPT_fplugin_arg, options::OPT_fpass_plugin_EQ,
    options::OPT_flto,         options::OPT_flto_EQ,     options::OPT_Xarch__,
    options::OPT_Xarch_host,   options::OPT_driver_mode, options::OPT_flto_EQ_auto,
    options::OPT_Xarch_device,
};

/// Options that ask the compiler something: it answers on standard output and compiles nothing.
constexpr unsigned Asks[] = {
    options::OPT__version,
    options::OPT_help,
    options::OPT__help_hidden,
    options::OPT_dumpversion,
    options::OPT_dumpmachine,
    options::OPT_dumpspecs,
    options::OPT_autocomplete,
    options::OPT__HASH_HASH_HASH,
    options::OPT__print_diagnostic_categories,
    options::OPT_print_diagnostic_options,
    options::OPT_print_effective_triple,
    options::OPT_print_enabled_extensions,
    options::OPT_print_file_name_EQ,
    options::OPT_print_libgcc_file_name,
    options::OPT_print_std_module_manifest_path,
    options::OPT_print_multi_directory,
    options::OPT_print_multi_flags,
    options::OPT_print_multi_lib,
    options::OPT_print_prog_name_EQ,
    options::OPT_print_resource_dir,
    options::OPT_print_rocm_search_dirs,
    options::OPT_print_runtime_dir,
    options::OPT_print_search_dirs,
    options::OPT_print_supported_cpus,
    options::OPT_print_supported_extensions,
    options::OPT_print_target_triple,
    options::OPT_print_targets,
    options::OPT_ccc_print_bindings,
    options::OPT_ccc_print_phases,
};

/// Options that say how code is generated. Two commands that differ in them only are the same
/// source twice: the objects of a library, with and without -fPIC.
constexpr unsigned Generates[] = {
    options::OPT_fPIC,       options::OPT_fpic,           options::OPT_fPIE,
    options::OPT_fpie,       options::OPT_fvisibility_EQ, options::OPT_fvisibility_inlines_hidden,
    options::OPT_fno_common, options::OPT_fcommon,
};

/// Options of gcc alone whose value is the next word.
constexpr llvm::StringLiteral GccValued[] = {"-aux-info", "-wrapper", "-dumpbase", "-dumpbase-ext",
                                             "-imultilib"};

/// One option of a command: which, and its words.
struct Option {
  unsigned Id;
  unsigned Group; ///< 0 when it is in none.
  size_t First, Count;
};

std::vector<Option> parse(const std::vector<std::string> &Words) {
  std::vector<const char *> Given;
  for (size_t I = 1; I < Words.size(); ++I)
    Given.push_back(Words[I].c_str());
  unsigned MissingIndex = 0, MissingCount = 0;
  llvm::opt::InputArgList Parsed = clang::driver::getDriverOptTable().ParseArgs(
      Given, MissingIndex, MissingCount, llvm::opt::Visibility(options::ClangOption));
  std::vector<Option> Found;
  for (const llvm::opt::Arg *Each : Parsed) {
    const llvm::opt::Option Meant = Each->getOption().getUnaliasedOption();
    unsigned Group = Meant.getGroup().isValid() ? Meant.getGroup().getID() : 0;
    Found.push_back({Meant.getID(), Group, Each->getIndex() + 1, 1});
  }
  for (size_t I = 0; I < Found.size(); ++I)
    Found[I].Count = (I + 1 < Found.size() ? Found[I + 1].First : Words.size()) - Found[I].First;
  for (size_t I = 0; I + 1 < Found.size(); ++I)
    if (Found[I].Id == options::OPT_UNKNOWN && Found[I].Count == 1 &&
        llvm::is_contained(GccValued, llvm::StringRef(Words[Found[I].First])) &&
        Found[I + 1].Count == 1) {
      Found[I].Count = 2;
      Found.erase(Found.begin() + static_cast<std::ptrdiff_t>(I) + 1);
    }
  return Found;
}

/// No warning is shown, but looking up some hundred of gcc's that Clang does not know takes a
/// noticeable part of a small file's time. The -Wno- ones stay: some of them switch errors off.
bool onlyWarns(llvm::StringRef Word) {
  if (Word.starts_with("-pedantic"))
    return true;
  bool PassesOn = Word.size() > 3 && Word[3] == ','; // -Wp,… -Wa,… -Wl,…
  return Word.starts_with("-W") && !Word.starts_with("-Wno-") && !PassesOn;
}

/// Opens "-Wp,A,B" and "-Xpreprocessor A": the words stand alone, those about dependency files go.
void openPreprocessorWords(std::vector<std::string> &Words) {
  std::vector<std::string> Kept;
  bool SkipsNext = false; // The last word for the preprocessor takes a file to write.
  auto Take = [&](llvm::StringRef Word) {
    bool Skip = SkipsNext;
    SkipsNext = !Skip && llvm::is_contained({"-MD", "-MMD", "-MF", "-MT", "-MQ"}, Word);
    if (!Skip && !Word.starts_with("-M"))
      Kept.push_back(Word.str());
  };
  for (size_t I = 0; I < Words.size(); ++I) {
    llvm::StringRef Word = Words[I];
    if (I && Word.consume_front("-Wp,")) {
      llvm::SmallVector<llvm::StringRef, 4> Parts;
      Word.split(Parts, ',', -1, /*KeepEmpty=*/false);
      for (llvm::StringRef Part : Parts)
        Take(Part);
    } else if (I && Word == "-Xpreprocessor" && I + 1 < Words.size()) {
      Take(Words[++I]);
    } else {
      Kept.push_back(Words[I]);
    }
  }
  Words = std::move(Kept);
}

/// A launcher, a library or an object is an input, too.
bool isSource(const CompileCommand &Command, const Option &Each) {
  return Each.Id == options::OPT_INPUT &&
         (!languageOfSuffix(Command.Arguments[Each.First]).empty() ||
          support::absolutePath(Command.Arguments[Each.First], Command.Directory) == Command.File);
}

bool sameFile(const std::string &A, const std::string &B) {
  return A == B || llvm::sys::fs::equivalent(A, B);
}

/// "cc a.c b.c" is one entry for each file but the same words: leaves only the entry's own. Of
/// names that differ, the one that is another name of the file counts; a single source is it.
llvm::Error keepOwnSource(CompileCommand &Command) {
  std::vector<size_t> Sources;
  for (const Option &Each : parse(Command.Arguments))
    if (isSource(Command, Each))
      Sources.push_back(Each.First);
  if (Sources.empty())
    return failed("its command names no source file");
  auto Own = llvm::find_if(Sources, [&](size_t I) {
    return support::absolutePath(Command.Arguments[I], Command.Directory) == Command.File;
  });
  if (Own == Sources.end())
    Own = llvm::find_if(Sources, [&](size_t I) {
      return sameFile(support::absolutePath(Command.Arguments[I], Command.Directory), Command.File);
    });
  if (Own == Sources.end() && Sources.size() == 1)
    Own = Sources.begin();
  if (Own == Sources.end())
    return failed("its command names other sources, and not this one");
  for (size_t I : llvm::reverse(Sources))
    if (I != *Own)
      Command.Arguments.erase(Command.Arguments.begin() + static_cast<std::ptrdiff_t>(I));
  return llvm::Error::success();
}

} // namespace

llvm::StringRef languageOfSuffix(llvm::StringRef File) {
  return llvm::StringSwitch<llvm::StringRef>(path::extension(File))
      .Cases(".c", ".i", "c")
      .Cases(".cc", ".cp", ".cxx", ".cpp", ".c++", ".C", ".CPP", ".ii", "C++")
      .Cases(".s", ".S", ".sx", ".asm", "assembler")
      .Cases(".m", ".mm", ".mi", ".M", "Objective-C")
      .Cases(".f", ".F", ".f90", ".F90", ".for", "Fortran")
      .Cases(".cu", ".cuh", "CUDA")
      .Cases(".bc", ".ll", "LLVM IR")
      .Default("");
}

llvm::Error simplify(CompileCommand &Command, llvm::StringRef Output) {
  llvm::erase_if(Command.Arguments, [](const std::string &A) { return A.empty(); });
  openPreprocessorWords(Command.Arguments);
  std::string Stated = Output.str();
  std::vector<std::string> Kept(Command.Arguments.begin(),
                                Command.Arguments.begin() + !Command.Arguments.empty());
  for (const Option &Each : parse(Command.Arguments)) {
    const std::string &First = Command.Arguments[Each.First];
    const std::string &Last = Command.Arguments[Each.First + Each.Count - 1];
    if (llvm::is_contained(Asks, Each.Id))
      return failed("its command compiles nothing, it asks the compiler for " + First);
    if (Each.Id == options::OPT_config)
      return failed("its command names a configuration file of clang (" + First +
                    "); put the options in it into the command");
    if (Each.Id == options::OPT_o && Stated.empty())
      Stated = Each.Count == 2 ? Last : llvm::StringRef(First).drop_front(2).ltrim('=').str();
    if (Each.Id == options::OPT_working_directory) {
      llvm::StringRef Folder = Each.Count == 2 ? Last : llvm::StringRef(First).split('=').second;
      Command.Directory = support::absolutePath(Folder, Command.Directory);
      continue;
    }
    for (size_t I = 0; I != Each.Count; ++I)
      Kept.push_back(Command.Arguments[Each.First + I]);
  }
  Command.Arguments = std::move(Kept);
  if (!Stated.empty())
    Command.Output = support::absolutePath(Stated, Command.Directory);
  return keepOwnSource(Command);
}

llvm::StringRef languageOf(const CompileCommand &Command) {
  llvm::StringRef Explicit;
  for (const Option &Each : parse(Command.Arguments)) {
    llvm::StringRef Word = Command.Arguments[Each.First];
    if (Each.Id == options::OPT_x)
      Explicit = Each.Count == 2 ? llvm::StringRef(Command.Arguments[Each.First + 1])
                                 : Word.drop_front(Word.starts_with("--") ? 11 : 2);
    else if (isSource(Command, Each))
      break; // What follows is about other files.
  }
  if (Explicit.empty() || Explicit == "none")
    return languageOfSuffix(Command.File);
  return llvm::StringSwitch<llvm::StringRef>(Explicit)
      .Cases("c", "cpp-output", "c")
      .StartsWith("c++", "C++")
      .StartsWith("assembler", "assembler")
      .Default(Explicit);
}

std::string sourceAmong(llvm::ArrayRef<std::string> Flags) {
  std::vector<std::string> Words = {"clang"};
  llvm::append_range(Words, Flags);
  for (const Option &Each : parse(Words))
    if (Each.Id == options::OPT_INPUT && !languageOfSuffix(Words[Each.First]).empty())
      return Words[Each.First];
  return "";
}

std::string meaningOf(const CompileCommand &Command) {
  std::string Key = Command.Directory + '\0' + Command.File;
  for (const Option &Each : parse(Command.Arguments)) {
    const std::string &Word = Command.Arguments[Each.First];
    if (llvm::is_contained(Writes, Each.Id) || llvm::is_contained(Generates, Each.Id) ||
        Each.Id == options::OPT_INPUT || Each.Group == options::OPT_O_Group || onlyWarns(Word) ||
        Word == "-DPIC" || llvm::StringRef(Word).starts_with("-g"))
      continue;
    for (size_t I = 0; I != Each.Count; ++I)
      Key += '\0' + Command.Arguments[Each.First + I];
  }
  return Key;
}

std::vector<std::string> meaningfulWords(const CompileCommand &Command) {
  std::vector<std::string> Kept;
  for (const Option &Each : parse(Command.Arguments)) {
    llvm::StringRef Word = Command.Arguments[Each.First];
    if (Each.Id == options::OPT_UNKNOWN &&
        Each.Count > 1) // Clang would take the value for an option.
      continue;
    if (llvm::is_contained(Writes, Each.Id) || llvm::is_contained(Foreign, Each.Id) ||
        llvm::is_contained(Asks, Each.Id) || Each.Id == options::OPT_config || onlyWarns(Word) ||
        Word.starts_with("-specs=") || (Each.Id == options::OPT_INPUT && !isSource(Command, Each)))
      continue;
    for (size_t I = 0; I != Each.Count; ++I)
      Kept.push_back(Command.Arguments[Each.First + I]);
  }
  return Kept;
}

} // namespace nvmove::scan
