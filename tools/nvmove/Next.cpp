// What a command says last: see Next.h.
#include "nvmove/Next.h"

#include "crash/Shell.h"

namespace nvmove::tool {

void tellNext(const Arguments &A, const std::string &Step) {
  bool ForMachines = A.Format != "text" && (A.Output.empty() || A.Output == "-");
  if (Step.empty() || A.Quiet || ForMachines || A.IsPart)
    return;
  llvm::outs().flush();
  support::Diagnostics(llvm::errs(), support::wantsColor(A.Color, llvm::errs()))
      .note("next: " + Step);
}

std::string asked(const std::string &Command, const Arguments &A,
                  const std::vector<std::string> &Loads, const std::string &Options) {
  std::string Line = Command;
  auto Add = [&](llvm::StringRef Option, const std::string &Value) {
    Line += Option.str() + crash::shellWord(Value);
  };
  if (!A.DatabasePath.empty())
    Add(" -p ", A.DatabasePath);
  for (const std::string &Glob : A.FactsGlobs)
    Add(" --facts ", Glob);
  for (const std::string &Load : Loads)
    Add(" --load ", Load);
  for (const std::string &Save : A.Save)
    Add(" --save ", Save);
  if (!A.Observed.empty())
    Add(" --observed ", A.Observed);
  Line += Options;
  for (const std::string &File : A.Files)
    Add(" ", File);
  if (A.HasFlags)
    Line += " --";
  for (const std::string &Flag : A.Flags)
    Add(" ", Flag);
  return Line;
}

} // namespace nvmove::tool
