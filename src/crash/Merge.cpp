// Adding results: see Merge.h.
#include "crash/Merge.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::crash {
namespace {

bool samePlace(const Site *A, const Site *B) { return A && B ? !(*A < *B) && !(*B < *A) : A == B; }

bool sameFinding(const Finding &A, const Finding &B) {
  return A.Kind == B.Kind && A.IsWarning == B.IsWarning && samePlace(A.Where, B.Where) &&
         (A.Where || A.Message == B.Message);
}

void mergeFindings(Result &Into, Result &From) {
  for (Finding &F : Into.Findings)
    F.Method = F.Method.empty() ? Into.Method : F.Method;
  for (Finding &F : From.Findings) {
    auto Known = llvm::find_if(Into.Findings, [&](const Finding &K) { return sameFinding(K, F); });
    if (Known != Into.Findings.end()) {
      Known->Method = "both methods";
      continue;
    }
    F.Method = From.Method;
    Into.Findings.push_back(std::move(F));
  }
}

} // namespace

void merge(Result &Into, Result &&From) {
  mergeFindings(Into, From);
  if (Into.Failed.empty())
    Into.Failed = std::move(From.Failed);
  Into.Places.splice(Into.Places.end(), From.Places); // findings point there
  for (uint64_t Result::*Sum :
       {&Result::States, &Result::Distinct, &Result::Epochs, &Result::Sampled, &Result::Skipped,
        &Result::FailurePoints, &Result::Omitted, &Result::Unexplored, &Result::Commits,
        &Result::Stores, &Result::Refused, &Result::Lost, &Result::Possible})
    Into.*Sum += From.*Sum;
  Into.Threads = std::max(Into.Threads, From.Threads);
  Into.Recoveries.All += From.Recoveries.All;
  Into.Recoveries.Moves += From.Recoveries.Moves;
  Into.Recoveries.Stayed += From.Recoveries.Stayed;
  Into.Seconds += From.Seconds;
  for (std::string &Text : From.NotDone)
    if (!llvm::is_contained(Into.NotDone, Text))
      Into.NotDone.push_back(std::move(Text));
  for (bool Result::*Either : {&Result::CommandFails, &Result::Cut, &Result::Raw, &Result::Unclosed,
                               &Result::TimeUp, &Result::LocksUnseen})
    Into.*Either |= From.*Either;
  Into.Looks = std::min(Into.Looks, From.Looks);
  Into.Method = "undo and shadow"; // whichever was first
}

} // namespace nvmove::crash
