// What the objects keep, in the eyes of the input: who holds the handle, who input, who neither.
//
// An object that holds input and is not yet linked to memory older than the load is input still: a
// decode record, which is called staged; one that is linked is built. The contents are looked up
// anew once a round. From them follows what a call hands over to its callee.
#pragma once

#include "solve/reach/Visits.h"

#include <vector>

namespace nvmove::solve {

/// What one object directly keeps.
struct Content {
  bool Input = false, Handle = false, Fresh = false;
  bool Linked = false; ///< Reachable from memory that is older than the load.
  bool Source = false; ///< It or what it points to holds the handle.
  bool Staged = false; ///< It or what it points to is a source, or holds input and is not linked.
  bool Buffer = false; ///< Globals: points to characters that were read.
};

/// Again: in a later round. Event: one of many hooks.
enum class Look { First, Again, Event };

class Contents {
public:
  explicit Contents(const Visits &V) : V(V), Graph(V.graph()) {}

  void refresh();
  const Content &of(ObjectId Id) const {
    static const Content Nothing; // Made since the last refresh.
    return Id < All.size() ? All[Id] : Nothing;
  }
  bool anyHandle() const;

  bool keepsMade(GlobalId Global) const;
  bool keepsReader(ObjectId Global) const;

  bool contact(const PendingCall &Call) const;
  bool carriesHandle(const PendingCall &Call) const;
  bool carriesInput(const PendingCall &Call, Look How) const;
  bool bringsInput(InstanceId In, facts::Register R) const;
  /// Grows whenever the arguments, or what they point to, may mean more than before.
  size_t argumentSize(const PendingCall &Call) const;

private:
  void findDirect();
  void findLinked();
  void findStaged();
  bool keepsBuffer(ObjectId Global) const;
  bool contact(NodeId N) const;

  const Visits &V;
  const PointsTo &Graph;
  std::vector<Content> All; ///< By ObjectId.
};

} // namespace nvmove::solve
