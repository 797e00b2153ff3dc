// Where each allocation goes under a port file's scopes, and the fewest scopes that place all rightly.
//
// Placement carries out scopes on the program's visits, as the running program does: what calls of a
// function allocate goes where the innermost scope around them says, and to DRAM without one. The
// chooser looks for what is placed wrongly and adds the scope that mends it: the function that
// allocates, if all that its calls make moves; else the container it works for ("beside"); else its
// callers, each in its turn. What stays in DRAM and would then be taken along gets a scope of its own.
#pragma once

#include "plan/Assignments.h"
#include "plan/Moved.h"

#include <map>

namespace nvmove::plan {

enum class Scope : uint8_t { Persistent, Volatile, Beside };

/// Ways in which one allocation may be placed, in several runs of the same visit.
enum Places : uint8_t { Nowhere = 0, InDram = 1, InPool = 2, Either = 3 };

class Placement {
public:
  Placement(const Everything &All, const Moved &What, const Assignments &Assigned,
            const std::map<ScopeId, Scope> &Scopes);
  /// Of an object on the heap.
  Places of(const Object &Made) const;

private:
  uint8_t beside(const Edge &Call) const;
  uint8_t around(const facts::Instruction *Call, uint8_t Outer) const;

  const Everything &All;
  const Moved &What;
  const Assignments &Assigned;
  const std::map<ScopeId, Scope> &Scopes;
  std::vector<uint8_t> State; ///< By InstanceId.
};

class Scopes {
public:
  Scopes(const Program &P, const Everything &All, const Moved &What);

  struct Chosen {
    Scope Kind;
    std::set<ObjectId> For; ///< What made it necessary.
  };
  const std::map<ScopeId, Chosen> &chosen() const { return Picked; }
  /// As the port file writes it.
  std::string name(ScopeId Id) const;
  /// Moving objects that some run allocates in DRAM all the same, and others the other way round.
  const std::vector<ObjectId> &left() const { return Left; }

private:
  std::map<ScopeId, Scope> scopes() const;
  bool coverOne();
  bool releaseOne();
  /// Objects that lie in the pool: those that have to stay, and all that need not.
  struct Cost {
    size_t Wrong = 0, Idle = 0;
  };
  Cost cost(ScopeId Id) const;
  bool isClean(ScopeId Id, Cost Before) const;
  bool cleanAbove(Site Call, Cost Before, std::set<InstanceId> &Tried,
                  std::set<ScopeId> &Found) const;
  bool cover(ObjectId For);
  bool tellsApart(FunctionId Id) const;
  bool add(ScopeId Id, Scope Kind, ObjectId For);
  bool isMisplaced(const Placement &Now, ObjectId Id) const;

  const Program &P;
  const Everything &All;
  const Moved &What;
  const Assignments Assigned;
  const Names Say;
  std::vector<ObjectId> Heap;
  std::map<ScopeId, Chosen> Picked;
  std::set<ObjectId> GivenUp;
  std::vector<ObjectId> Left;
};

} // namespace nvmove::plan
