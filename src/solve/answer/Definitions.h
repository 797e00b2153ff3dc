// The functions that the command line names: "load", "file.c:load", "object.o:load".
//
// A name is looked up in the units before they are linked, since the program is grown around the
// units that define it.
#pragma once

#include "solve/program/Program.h"

#include "llvm/Support/Error.h"

namespace nvmove::solve {

/// A definition of a function: which unit, and which of its bodies.
struct Definition {
  uint32_t Unit = None;
  const facts::Function *Body = nullptr;
  std::string File;
  std::vector<uint32_t> Rivals; ///< Units that compile the same file otherwise, for other programs.
  bool Tie = false;             ///< One of them lies as near.
};

/// The order of a compile database says nothing: sorted by source and object.
void sortUnits(std::vector<facts::TranslationUnit> &Units);

/// One definition for each name in \p Wanted. Fails with UnknownFunction (Solve.h). \p Notes gets a
/// sentence where one file is compiled for several programs.
llvm::Expected<std::vector<Definition>>
findDefinitions(const std::vector<facts::TranslationUnit> &Units,
                const std::vector<std::string> &Wanted, std::vector<std::string> &Notes);

/// The program's ids of what findDefinitions() found; bodies keep their addresses when a vector is
/// moved.
std::vector<FunctionId> idsOf(const Program &P, const std::vector<Definition> &Wanted);

} // namespace nvmove::solve
