// The variables that a restart has to bring back: those that lead to what moves, and numbers that the
// load and the running program share.
#pragma once

#include "plan/Names.h"
#include "plan/Turns.h"

namespace nvmove::plan {

class RootFinder {
public:
  RootFinder(const Program &P, const Everything &All, const Moved &What, const Turns &When,
             llvm::ArrayRef<FunctionId> Load);

  /// Adds roots, marks of fields and questions about both.
  void describe(Plan &Into) const;

private:
  struct Variable {
    std::set<int64_t> Leading, Also, Numbers; ///< Cells.
    bool InPool = false;
    std::string WhyInPool;
    SourcePlace Where;
  };

  void findNumbers(llvm::ArrayRef<FunctionId> Load);
  void findInPool();
  bool isWhole(ObjectId Id, const Variable &Of) const;
  void describe(ObjectId Id, const Variable &Of, Plan &Into) const;
  void describeAddressed(Plan &Into) const;
  void describeLeaving(Plan &Into) const;

  const Program &P;
  const Everything &All;
  const PointsTo &Graph;
  const Moved &What;
  const Turns &When;
  Names Say;
  std::map<ObjectId, Variable> Variables;
};

} // namespace nvmove::plan
