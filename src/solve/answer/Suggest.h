// Which functions may load the state, or save it: for somebody who does not know the program.
//
// A function that loads opens a file, itself or soon, reads it, and makes records of what it reads; most
// of what it calls serves this. One that saves opens a file for writing and writes. All functions of the
// programs are compared by such signs, which need no analysis; the best that may load are then analysed
// as if --load named them (Solve.h): what they leave behind counts most.
//
// Names say something, too: words that programmers use for it (load, restore, import), and a partner
// whose name differs in that word alone (rdbLoad, rdbSave).
#pragma once

#include "solve/answer/Solve.h"

namespace nvmove::solve {

/// The best first, at most \p Max. \p O says how much work an analysis may be; its functions are not
/// looked at.
std::vector<Suggestion> suggestLoads(const std::vector<facts::TranslationUnit> &Units,
                                     const Options &O, unsigned Max);
std::vector<Suggestion> suggestSaves(const std::vector<facts::TranslationUnit> &Units,
                                     unsigned Max);

} // namespace nvmove::solve
