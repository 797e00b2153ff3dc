// The nvmove command: parses its arguments and calls the command they name (Run.cpp, RunSources.cpp).
#include "nvmove/Commands.h"

#include "support/Signals.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"

#include <unistd.h>

using namespace nvmove;

namespace {

/// LLVM met something it cannot go on from. Within a crash recovery context only one input is
/// lost, so returning (to abort(), which the context catches) is right there.
void onFatalError(void *, const char *Reason, bool) {
  if (llvm::CrashRecoveryContext::GetCurrent())
    return;
  llvm::errs() << "nvmove: internal error: " << Reason << '\n';
  _exit(tool::ExitInternal);
}

/// \p Status, unless what was printed did not arrive.
int printed(int Status) {
  llvm::outs().flush();
  std::error_code Error = llvm::outs().error();
  if (!Error)
    return Status;
  llvm::outs().clear_error();
  llvm::errs() << "nvmove: error: standard output: " << Error.message() << '\n';
  return tool::ExitUsage;
}

} // namespace

int main(int Count, char **Values) {
  support::installInterruptHandler();
  llvm::install_fatal_error_handler(onFatalError);
  tool::Arguments A;
  if (std::optional<int> Done = tool::parseArguments(Count, Values, A))
    return printed(*Done);
  return printed(tool::run(A, Values));
}
