// One pool from its creation on, while its program is killed: see Trial.h.
#pragma once

#include "move/Reference.h"

#include <random>

namespace nvmove::move {

class Life {
public:
  Life(const Settings &S, const Reference &Known, MethodResult &Made, uint64_t Seed)
      : S(S), Known(Known), Made(Made), Random(Seed) {}

  /// Does the workload, and kills behind or within \p Kills steps.
  llvm::Error runKilled(unsigned Kills);
  /// Does the workload, and kills inside of the library, up to \p Kills times.
  llvm::Error runKilledInside(unsigned Kills);
  /// Does the workload, ends the program as a user does, and asks what it knows.
  llvm::Error runToEnd();
  /// Does the workload, and lets the library look for variables that the port file forgot.
  llvm::Error lookForRoots(std::string &Said);

private:
  enum class State { Before, Behind, Wrong };

  uint64_t below(uint64_t End) { return Random() % End; }
  bool isOver() const { return Made.Lost.has_value() || IsAsked; }
  llvm::Error begin();
  llvm::Error start(const std::string &KillAt, const std::string &Debug = "");
  llvm::Error restart();
  llvm::Error perform(size_t Step, bool CompareAnswer);
  llvm::Error killAround(size_t Step, bool Within);
  llvm::Error killWithin(size_t Step);
  llvm::Error expect(const std::string &When, size_t Step, bool Acknowledged, State &Found);
  llvm::Error survive(const std::string &When, size_t Step, bool Acknowledged);
  bool isWhole(size_t Step, const Answer &A) const;
  void lose(const std::string &When, const std::string &What, const std::string &Expected,
            const std::string &Got);
  void tell() const;

  const Settings &S;
  const Reference &Known;
  MethodResult &Made;
  std::mt19937_64 Random;
  bool IsAsked = false; ///< by a check that changes data
  std::unique_ptr<Running> Program;
};

} // namespace nvmove::move
