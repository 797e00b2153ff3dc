// nvmove crash --explain: what a kind of finding means.
#include "nvmove/Commands.h"

#include "crash/Kinds.h"
#include "support/Diagnostics.h"
#include "support/Suggest.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::tool {

int explainKind(const Arguments &A) {
  if (const crash::Kind *K = crash::kindNamed(A.Crash.Explain)) {
    llvm::outs() << K->Name << "\n\n" << K->What << "\n\nMend: " << K->Mend << '\n';
    return ExitComplete;
  }
  std::vector<std::string> Names;
  for (const crash::Kind &K : crash::allKinds())
    Names.push_back(K.Name.str());
  if (A.Crash.Explain == "all") {
    for (const std::string &Name : Names)
      llvm::outs() << Name << '\n';
    return ExitComplete;
  }
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  D.error("--explain=" + A.Crash.Explain + ": no kind of finding" +
          support::didYouMean(support::nearest(A.Crash.Explain, Names)) +
          "; --explain=all lists them");
  return ExitUsage;
}

} // namespace nvmove::tool
