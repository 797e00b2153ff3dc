// What moves: the objects that are reached from where the load leaves its data, and the variables
// that lead there.
//
//   root      a cell of a global variable from which objects are reached that the load has made
//   moves     an object on the heap that is reached from a root through objects of persistent types,
//             or without a type: bytes and arrays
//   shared    a type that the load makes and the running program looks into: persistent, too, whatever
//             the scan says, since nobody makes its objects where the pool has the data
//   hung      an object that was there before the load, into which the load hangs what it makes: the
//             head of a container; it moves, too
//   leaves    a cell of a moving object that leads to something which does not move
//   neutral   of a persistent type, but never linked: it may lie anywhere
#pragma once

#include "plan/Everything.h"

#include <map>
#include <string>

namespace nvmove::plan {

struct Cell {
  ObjectId In = None;
  int64_t Offset = 0;
  bool operator<(const Cell &O) const { return std::tie(In, Offset) < std::tie(O.In, O.Offset); }
};

struct Leaving {
  Cell From;
  ObjectId To = None;
};

class Moved {
public:
  /// What a scan of the load functions found.
  struct Scanned {
    std::vector<FunctionId> Load;
    std::set<RecordKey> Records;
    std::set<const facts::Instruction *> Untyped; ///< Allocations of arrays and texts.
    std::set<ObjectId> Apart = {};                ///< Objects that a run shows to be no data.
  };
  Moved(const Program &P, const Everything &All, const Scanned &Found);

  bool moves(ObjectId Id) const { return Moving.count(Id) != 0; }
  const std::set<ObjectId> &objects() const { return Moving; }
  /// True for what has to stay in DRAM: it is of another type, or leads to what is.
  bool stays(ObjectId Id) const { return Staying.count(Id) != 0; }
  /// Without a record, and without a pointer to an object.
  bool isBytes(ObjectId Id) const;
  /// Cells of global variables.
  const std::set<Cell> &roots() const { return Roots; }
  /// Cells of other variables that lead to what moves.
  const std::set<Cell> &alsoRoots() const { return AlsoRoots; }
  /// Local variables, of functions that run on, into which the load stores what it makes.
  const std::set<ObjectId> &locals() const { return Locals; }
  const std::vector<Leaving> &leaving() const { return Leaves; }
  /// True when \p Field of some moving object points to another one.
  bool alsoHoldsMoving(const std::string &Field) const { return Holding.count(Field) != 0; }
  bool isUsed(Cell Of) const { return Used.count(Of) != 0; }
  /// What runs apart from the load; saving is a part of it.
  bool runs(InstanceId In) const { return Running.count(In) != 0; }
  bool loads(InstanceId In) const { return Loading.count(In) != 0; }
  /// Global variables whose address lies in what moves, with one of the cells.
  const std::map<ObjectId, Cell> &addressed() const { return Addressed; }
  bool isPersistent(RecordKey Key) const {
    return Found.Records.count(P.named(Key)) != 0 || Shared.count(P.named(Key)) != 0;
  }

  /// "record.field" of a cell, as the port file writes it; "" where no single record has it.
  std::string fieldName(Cell At) const;
  /// Where the address came into the cell that leads to \p To.
  SourcePlace stored(Cell At, ObjectId To) const;
  SourcePlace placeOf(const Site &Where) const;
  SourcePlace madeAt(ObjectId Id) const { return placeOf(All.graph().object(Id).Made); }

private:
  bool isLoaded(ObjectId Id) const;
  bool isApart(ObjectId Id) const { return Found.Apart.count(Id) != 0; }
  bool mayMove(ObjectId Id) const;
  Shape declared(Cell At) const;
  bool fits(Cell At, ObjectId To) const;
  bool isText(ObjectId Id) const;
  void findShared();
  void findHung();
  void findUsed();
  void findHolders();
  void findRoots();
  void walk();
  void findStaying();
  void findAlsoRoots();

  const Program &P;
  const Everything &All;
  const PointsTo &Graph;
  const Scanned &Found;
  std::set<InstanceId> Loading, Running;
  std::set<ObjectId> Hung;
  std::set<RecordKey> Shared;
  std::set<Cell> Used; ///< Of variables, loaded while the program runs.
  std::map<ObjectId, std::vector<Cell>>
      Holders; ///< Of what may move, in what may move and variables.
  std::set<std::string> Holding;
  std::set<ObjectId> Moving, Staying, Locals;
  std::set<std::pair<InstanceId, const facts::Instruction *>> Blocks; ///< Of what moves.
  std::set<Cell> Roots, AlsoRoots;
  std::vector<Leaving> Leaves;
  std::map<ObjectId, Cell> Addressed;
};

} // namespace nvmove::plan
