// The list of findings of a run.
#pragma once

#include "crash/Judge.h"
#include "crash/Options.h"
#include "crash/Result.h"

namespace nvmove::crash {

constexpr size_t LossesNamed = 4; ///< lines of a loss that get notes of their own

/// Adds \p F, or counts it to the one of the same kind at the same place; beyond a hundred it only
/// counts. The finding that it is in, when it is new.
Finding *addFinding(Result &R, Finding F);

/// \p F is \p Known, found again: the calls that led there are kept, if they are others. Which ones
/// does not depend on who has found it: the first of all are among the first of each process.
void addCalls(Finding &Known, const Finding &F);

/// \p F, whose message begins with that of \p Said, says what the checker printed, too. That does
/// not make it another finding.
void tellPrinted(const Judgement &Said, Finding &F);

/// What was found so far is told, if somebody looks on.
void tellFindings(const Options &O, const Result &R);
/// "ended with status 3", "was ended by signal 7 (...)", of a status as wait() gives it.
std::string howProcessEnded(int Status);
/// "the program ended with status 3".
std::string howItEnded(const Trace &T);
/// The same, if that is a failure; else empty.
std::string howItFailed(const Trace &T);
/// Sources of the program that were not compiled for the trace; empty: none.
std::string untracedSources(const Trace &T);
/// What of the looks at the trace was left out, and why.
void tellStopped(const Trace &T, const Options &O, Result &R);
/// What was explored, added to what was known of the run before.
void addExplored(Result &R, Result Explored);

} // namespace nvmove::crash
