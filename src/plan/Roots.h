// The variables that a restart has to bring back: those that lead to what moves, and numbers that the
// load and the running program share.
#pragma once

#include "plan/Moved.h"
#include "plan/Names.h"
#include "plan/SharedNumbers.h"

namespace nvmove::plan {

class RootFinder {
public:
  RootFinder(const Program &P, const Inference &Known, const Everything &All, const Moved &What);

  /// Adds roots, marks of static fields, and questions about both.
  void describe(Plan &Into) const;
  /// Variables that lie in the pool themselves.
  std::set<ObjectId> inPool() const;

private:
  struct Variable {
    std::set<int64_t> Leading, Also, Numbers; ///< Cells.
    bool InPool = false;
    std::string WhyInPool;
    SourcePlace Where;
  };

  void findNumbers();
  void findInPool();
  bool isWhole(ObjectId Id, const Variable &Of) const;
  void describe(ObjectId Id, const Variable &Of, Plan &Into) const;
  void describeAddressed(Plan &Into) const;
  void describeLocals(Plan &Into) const;
  void describeOfProcess(Plan &Into) const;

  const Program &P;
  const Inference &Known;
  const Everything &All;
  const PointsTo &Graph;
  const Moved &What;
  Names Say;
  std::map<ObjectId, Variable> Variables;
  std::set<ObjectId> Others; ///< Numbers that the load does not set.
  std::map<ObjectId, SharedNumbers::OfProcess> Process;
};

} // namespace nvmove::plan
