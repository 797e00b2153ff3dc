// The list of findings: see Findings.h.
#include "crash/Findings.h"

#include "llvm/ADT/STLExtras.h"

#include <sys/wait.h>

namespace nvmove::crash {

static const std::string &keyOf(const Finding &F) { return F.Key.empty() ? F.Message : F.Key; }

void tellPrinted(const Judgement &Said, Finding &F) {
  if (Said.Said.empty())
    return;
  F.Key = F.Message;
  F.Message.insert(Said.Message.size(), Said.Said);
}

Finding *addFinding(Result &R, Finding F) {
  for (Finding &Known : R.Findings)
    if (Known.Kind == F.Kind && Known.Where == F.Where && (F.Where || keyOf(Known) == keyOf(F))) {
      Known.Count += F.Count;
      return nullptr;
    }
  constexpr size_t FindingsMax = 100; // errors, and warnings; more are no help to anybody
  auto IsAlike = [&](const Finding &Known) { return Known.IsWarning == F.IsWarning; };
  if (size_t(llvm::count_if(R.Findings, IsAlike)) == FindingsMax) {
    ++R.Omitted;
    return nullptr;
  }
  R.Findings.push_back(std::move(F));
  return &R.Findings.back();
}

void tellFindings(const Options &O, const Result &R) {
  for (const Finding &F : R.Findings)
    if (O.Watching)
      O.Watching->found(F);
}

std::string howItEnded(const Trace &T) {
  if (!T.Status)
    return "the program ended";
  if (WIFSIGNALED(*T.Status))
    return "the program was ended by signal " + std::to_string(WTERMSIG(*T.Status));
  return "the program ended with status " + std::to_string(WEXITSTATUS(*T.Status));
}

std::string sayStopped(size_t Event, size_t Events, unsigned Hangs) {
  std::string Why = Hangs ? "after " + std::to_string(Hangs) + " hangs " : "";
  return Why + "it was stopped at event " + std::to_string(Event) + " of " +
         std::to_string(Events) + ": states of what came later were not judged";
}

bool Result::hasErrors() const {
  return llvm::any_of(Findings, [](const Finding &F) { return !F.IsWarning; });
}

} // namespace nvmove::crash
