// Builds and runs: see Estimate.h.
#include "nvmove/Arguments.h"
#include "nvmove/Estimate.h"
#include "nvmove/ShellStep.h"

#include "crash/Findings.h"
#include "crash/Shell.h"
#include "nvmove/abi.h"
#include "nvmove/emulation.h"
#include "support/Failed.h"
#include "support/Trees.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <regex>

namespace nvmove::tool {

using support::failed;
namespace {

namespace fs = std::filesystem;

/// A folder that goes away.
class Workplace {
public:
  llvm::Error make() {
    if (std::error_code Error = llvm::sys::fs::createUniqueDirectory("nvmove-estimate", Path)) {
      Path.clear();
      return failed("no folder for the copies can be made where temporary files go: " +
                    Error.message());
    }
    return llvm::Error::success();
  }
  ~Workplace() {
    std::error_code Ignored;
    if (!Path.empty())
      fs::remove_all(Path.str().str(), Ignored);
  }
  /// Whether it lies in \p Folder, which then cannot be copied here.
  bool liesIn(const std::string &Folder) const {
    std::error_code Ignored;
    std::string Outer = fs::canonical(Folder, Ignored).string() + "/";
    return llvm::StringRef(fs::canonical(Path.str().str(), Ignored).string()).starts_with(Outer);
  }
  std::string path(const char *Name) const { return (Path + "/" + Name).str(); }

private:
  llvm::SmallString<128> Path;
};

/// "pcm,write=600,cxl" has two profiles: settings go with the profile before them.
std::vector<std::string> profilesOf(const std::vector<std::string> &Words) {
  std::vector<std::string> Made;
  for (const std::string &Word : Words) {
    bool IsFirst = true;
    for (llvm::StringRef Part : llvm::split(Word, ',')) {
      if (!IsFirst && (Part.contains('=') || Part == "virtual"))
        Made.back() += "," + Part.str();
      else
        Made.push_back(Part.str());
      IsFirst = false;
    }
  }
  return Made;
}

/// Whether some file there has code that was compiled with --emulate.
bool hasEmulated(const std::string &Folder) {
  std::error_code Error;
  for (fs::recursive_directory_iterator At(Folder, Error), End; !Error && At != End;
       At.increment(Error)) {
    std::error_code Gone;
    if (!At->is_regular_file(Gone) || Gone)
      continue;
    auto Read = llvm::MemoryBuffer::getFile(At->path().string());
    if (Read && (*Read)->getBuffer().substr(1).starts_with("ELF") &&
        (*Read)->getBuffer().contains(NVM_EMULATED_SECTION))
      return true;
  }
  return false;
}

class Estimator {
public:
  explicit Estimator(const Arguments &A) : A(A) {}

  llvm::Expected<Estimate> run() {
    passSignals();
    if (llvm::Error E = makeTree("plain", "clang-19"))
      return std::move(E);
    llvm::Expected<std::string> Found = installedTool("nvmove-cc");
    if (!Found)
      return Found.takeError();
    std::string Compiler = crash::shellWord(*Found) + " --emulate=dram";
    for (const std::string &File : Types)
      Compiler += " --emulate-types=" + crash::shellWord(File);
    if (llvm::Error E = makeTree("emulated", Compiler))
      return std::move(E);
    if (!hasEmulated(Place.path("emulated")))
      return failed("--build " + A.Estimate.Build +
                    ": nothing was compiled by $CC, or nothing anew; does it use $CC, and begin "
                    "with 'make clean'?");
    configure();
    for (unsigned Round = 0; Round < A.Estimate.Rounds; ++Round) {
      for (Configuration &C : Made.All)
        if (llvm::Error E = runOnce(C))
          return std::move(E);
      for (const std::string &Profile : Made.Profiles) // early, as what is wrong shows there
        if (llvm::Error E = Round ? llvm::Error::success() : countTypes(Profile))
          return std::move(E);
    }
    return std::move(Made);
  }

  llvm::Error prepare() {
    for (const std::string &File : A.Estimate.Types) {
      llvm::SmallString<128> Absolute(File);
      llvm::sys::fs::make_absolute(Absolute);
      if (!llvm::sys::fs::exists(Absolute))
        return failed(File + ": there is no such file; nvmove scan --format=json makes it");
      Types.push_back(Absolute.str().str());
    }
    if (!llvm::sys::fs::is_directory(A.Estimate.Source))
      return failed(A.Estimate.Source + ": there is no such folder; -C names that of the source");
    if (llvm::Error E = Place.make())
      return E;
    if (Place.liesIn(A.Estimate.Source))
      return failed(A.Estimate.Source + ": temporary files go into this folder, so it would be "
                                        "copied into itself; set TMPDIR to another");
    Made.Profiles = profilesOf(A.Estimate.Profiles);
    for (const std::string &Profile : Made.Profiles) {
      if (llvm::StringRef(Profile).contains("virtual"))
        return failed("--profile " + Profile + ": nobody waits with 'virtual'");
      if (llvm::StringRef(Profile).contains("model="))
        return failed("--profile " + Profile + ": each runs by both models");
      if (const char *Fault = nvm_emulation_fault(Profile.c_str()))
        return failed("--profile " + Profile + ": " + Fault);
    }
    llvm::StringSet<> Names;
    Names.insert("plain");
    Names.insert(EmulationItself);
    for (const std::string &Profile : Made.Profiles)
      for (const char *Model : {", worst", ", cached"})
        if (!Names.insert(Profile + Model).second)
          return failed("--profile " + Profile + ": it is there twice");
    for (const std::string &Other : A.Estimate.Also)
      if (!Names.insert(llvm::StringRef(Other).split('=').first).second)
        return failed("--also " + Other + ": there is another of this name");
    for (const std::string &Loss : A.Estimate.Loses)
      if (auto [Name, Seconds] = llvm::StringRef(Loss).split('='); !Names.contains(Name))
        return failed("--loses " + Loss + ": no --also has the name '" + Name + "'");
    try {
      Metric = std::regex(A.Estimate.Metric,
                          std::regex::ECMAScript | std::regex::multiline); // ^ and $ are of lines
    } catch (const std::regex_error &) {
      return failed("--metric " + A.Estimate.Metric + ": not a regular expression");
    }
    if (!A.Estimate.Metric.empty() && Metric.mark_count() != 1)
      return failed("--metric " + A.Estimate.Metric +
                    ": it has one group, which is the number: 'ops: ([0-9.]+)'");
    Made.IsThroughput = !A.Estimate.Metric.empty();
    return llvm::Error::success();
  }

private:
  llvm::Error makeTree(const char *Name, const std::string &Compiler) {
    if (llvm::Error E = support::copyTree(A.Estimate.Source, Place.path(Name)))
      return E;
    OneWord Word(Compiler);
    ShellStep Build{
        A.Estimate.Build, Place.path(Name), Place.path("build.log"), {{"CC", Word.text()}}};
    if (!A.Quiet)
      llvm::errs() << "nvmove: builds it " << Name << '\n';
    int Status = runStep(Build);
    if (CameSignal)
      return failed("interrupted");
    if (Status)
      return failed("--build " + A.Estimate.Build + " " + crash::howProcessEnded(Status) + " (" +
                    Name + "); its last lines:\n" + lastLines(Build.Output));
    return llvm::Error::success();
  }

  void configure() {
    Made.All = {{"plain", false, "", "", {}, {}}};
    for (const std::string &Other : A.Estimate.Also) {
      auto [Name, Command] = llvm::StringRef(Other).split('=');
      Made.All.push_back({Name.str(), false, "", Command.str(), {}, lossOf(Name)});
    }
    Made.All.push_back({EmulationItself, true, "dram", "", {}, {}});
    for (const std::string &Profile : Made.Profiles)
      for (const char *Model : {"worst", "cached"})
        Made.All.push_back({Profile + ", " + Model, true, Profile + ",model=" + Model, "", {}, {}});
  }

  std::optional<double> lossOf(llvm::StringRef Name) const {
    double Seconds;
    for (llvm::StringRef Each : A.Estimate.Loses)
      if (Each.split('=').first == Name && !Each.split('=').second.getAsDouble(Seconds))
        return Seconds;
    return std::nullopt;
  }

  /// One more run of the profile, in which each type's accesses are counted. There must be some.
  llvm::Error countTypes(const std::string &Profile) {
    std::string Path = Place.path("counts");
    llvm::sys::fs::remove(Path);
    Configuration Counted{Profile + ", counted", true, Profile + ",model=worst", "", {}, {}};
    if (llvm::Error E = runOnce(Counted, Path))
      return E;
    auto Read = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    Made.Costs.push_back({Profile, typeCosts(Read ? (*Read)->getBuffer() : "")});
    if (Made.Costs.back().Types.empty())
      return failed("the run '" + Counted.Name +
                    "' accessed no object of the persistent types; does the command run the "
                    "program that was built in its folder (./prog), and is it compiled by $CC?");
    return llvm::Error::success();
  }

  llvm::Error runOnce(Configuration &C, const std::string &Counts = "") {
    using namespace std::chrono;
    std::string Line = C.Command.empty() ? "exec " : C.Command; // no shell stands between
    for (const std::string &Word : A.Flags)
      if (C.Command.empty())
        Line += crash::shellWord(Word) + " ";
    ShellStep Run{
        Line,
        Place.path("run"),
        Place.path("run.log"),
        {{"NVMOVE_EMULATE", C.Setting}, {"NVMOVE_EMULATE_COUNTS", Counts}, {"NVMOVE_STATS", ""}}};
    if (llvm::Error E =
            support::copyTree(Place.path(C.Emulated ? "emulated" : "plain"), Run.Folder))
      return E; // no run finds what another has left
    auto Begin = steady_clock::now();
    int Status = runStep(Run);
    double Seconds = duration<double>(steady_clock::now() - Begin).count();
    if (CameSignal)
      return failed("interrupted");
    if (C.Emulated)
      passOn(Run.Output);
    if (Status)
      return failed("the run '" + C.Name + "' " + crash::howProcessEnded(Status) +
                    "; its last lines:\n" + lastLines(Run.Output));
    if (!Made.IsThroughput) {
      C.Values.push_back(Seconds);
      return llvm::Error::success();
    }
    std::optional<double> Found = metricOf(Run.Output);
    if (!Found)
      return failed("--metric " + A.Estimate.Metric + ": the run '" + C.Name +
                    "' printed no such number above 0; its last lines:\n" + lastLines(Run.Output));
    C.Values.push_back(*Found);
    return llvm::Error::success();
  }

  /// What the library has to say of the emulation.
  void passOn(const std::string &Path) {
    auto Read = llvm::MemoryBuffer::getFile(Path);
    if (!Read)
      return;
    for (llvm::StringRef Line : llvm::split((*Read)->getBuffer(), '\n'))
      if (Line.starts_with("nvmove: ") && Said.insert(Line).second)
        llvm::errs() << Line << '\n';
  }

  /// The last one that was printed.
  std::optional<double> metricOf(const std::string &Path) const {
    auto Read = llvm::MemoryBuffer::getFile(Path);
    std::string Text = Read ? (*Read)->getBuffer().str() : "";
    std::optional<double> Last;
    for (std::sregex_iterator At(Text.begin(), Text.end(), Metric), End; At != End; ++At) {
      double Number;
      if (!llvm::StringRef((*At)[1].str()).getAsDouble(Number) && Number > 0 &&
          std::isfinite(Number))
        Last = Number;
    }
    return Last;
  }

  const Arguments &A;
  Workplace Place;
  std::vector<std::string> Types; ///< absolute paths of files
  std::regex Metric;
  llvm::StringSet<> Said;
  Estimate Made;
};

} // namespace

double Configuration::median() const {
  std::vector<double> Sorted = Values;
  llvm::sort(Sorted);
  size_t Half = Sorted.size() / 2;
  return Sorted.empty()      ? 0
         : Sorted.size() % 2 ? Sorted[Half]
                             : (Sorted[Half - 1] + Sorted[Half]) / 2;
}

double Estimate::speedOf(const Configuration &C) const {
  double Plain = All.front().median(), Own = C.median();
  if (Plain <= 0 || Own <= 0)
    return 0;
  return IsThroughput ? Own / Plain : Plain / Own;
}

llvm::Expected<Estimate> estimate(const Arguments &A) {
  Estimator Made(A);
  if (llvm::Error E = Made.prepare())
    return std::move(E);
  return Made.run();
}

} // namespace nvmove::tool
