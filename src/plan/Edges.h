// Pointers from what moves to what does not, and things inside of it that a restart has to make anew:
// the marks of fields, and a question for each.
#pragma once

#include "plan/Moved.h"
#include "plan/Names.h"

namespace nvmove::plan {

class EdgeFinder {
public:
  /// \p InPool: variables that move, too.
  EdgeFinder(const Program &P, const PointsTo &Graph, const Moved &What, std::set<ObjectId> InPool);

  void describe(Plan &Into) const;

private:
  std::string describeTarget(ObjectId Id) const;
  void describeLeaving(Plan &Into) const;
  void describeVariables(Plan &Into) const;
  void describeMembers(Plan &Into) const;
  void describeMember(RecordKey Of, const std::string &Name, const RecordField &Field,
                      Plan &Into) const;
  void describeLibraryPointers(RecordKey Of, const std::string &Name, SourcePlace Where,
                               Plan &Into) const;
  void describeArenas(Plan &Into) const;
  void describeLost(Plan &Into) const;
  void addVolatile(Plan &Into, const std::string &Field, std::string Why, SourcePlace Where) const;

  const Program &P;
  const PointsTo &Graph;
  const Moved &What;
  const Names Say;
  const std::set<ObjectId> InPool;
};

} // namespace nvmove::plan
