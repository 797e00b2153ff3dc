// `nvmove estimate`: its options, and the command. See Estimate.h.
#include "nvmove/Commands.h"
#include "nvmove/Estimate.h"
#include "nvmove/Next.h"
#include "nvmove/ShellStep.h"

#include "support/Failed.h"
#include "support/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nvmove::tool {
namespace {

/// The types that a scan finds, in a file that goes away.
class ScannedTypes {
public:
  ~ScannedTypes() {
    if (!Path.empty())
      llvm::sys::fs::remove(Path);
  }

  llvm::Error find(const Arguments &A) {
    if (std::error_code Error = llvm::sys::fs::createTemporaryFile("nvmove-types", "json", Path))
      return support::failed("no file for the types: " + Error.message());
    Arguments Own = A;
    Own.Flags.clear();
    Own.HasFlags = false;
    Own.IsPart = true;
    Own.Output = Path.str().str();
    Own.Format = "json";
    if (runScan(Own) >= ExitUsage)
      return support::failed("there are no types to emulate");
    return hasTypes()
               ? llvm::Error::success()
               : support::failed("the scan found no persistent types, so there is nothing to "
                                 "emulate; 'nvmove scan' says what to try");
  }

  llvm::SmallString<128> Path;

private:
  bool hasTypes() const {
    auto Text = llvm::MemoryBuffer::getFile(Path);
    llvm::Expected<llvm::json::Value> Found = llvm::json::parse(Text ? (*Text)->getBuffer() : "");
    if (!Found)
      return llvm::consumeError(Found.takeError()), false;
    const llvm::json::Object *All = Found->getAsObject();
    const llvm::json::Array *Types = All ? All->getArray("types") : nullptr;
    return Types && !Types->empty();
  }
};

} // namespace

int runEstimate(const Arguments &Given) {
  Arguments A = Given;
  ScannedTypes Found;
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  if (A.Estimate.Types.empty()) {
    if (llvm::Error Failed = Found.find(A)) {
      D.error(std::move(Failed));
      return ExitUsage;
    }
    A.Estimate.Types.push_back(Found.Path.str().str());
  }
  if (!A.Output.empty()) // before the runs, which may take long
    if (llvm::Error Failed = support::writeFile(A.Output, [](llvm::raw_ostream &) {})) {
      D.error(std::move(Failed));
      return ExitUsage;
    }
  llvm::Expected<Estimate> E = estimate(A);
  if (!E) {
    D.error(E.takeError());
    return CameSignal ? ExitInterrupted : ExitUsage;
  }
  auto Print = [&](llvm::raw_ostream &OS) {
    if (A.Format == "json")
      printEstimateJson(OS, *E);
    else if (A.Format == "html")
      printEstimateHtml(OS, *E);
    else
      printEstimate(OS, *E);
  };
  if (A.Output.empty()) {
    Print(llvm::outs());
  } else if (llvm::Error Failed = support::writeFile(A.Output, Print)) {
    D.error(std::move(Failed));
    return ExitUsage;
  }
  Arguments Asked = A; // without the command that ran
  Asked.HasFlags = false;
  Asked.Flags.clear();
  tellNext(A, asked("nvmove plan", Asked,
                    A.Load.empty() ? std::vector<std::string>{"FUNCTION"} : A.Load,
                    std::string(" -o ") + UsualPortFile));
  return ExitComplete;
}

} // namespace nvmove::tool
