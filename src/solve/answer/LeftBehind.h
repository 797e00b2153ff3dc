// What the load leaves behind: objects made in the zone that are still reachable when it returns.
//
// Roots are the globals, memory that existed before the load, and what the load returns. From them
// the shape graph is walked through every cell. Objects that hold the input handle are machinery:
// neither they nor what only they hold is persistent. Neither are objects made without contact to
// the input from which no input can be reached: locks, tables of operations and other things that a
// load sets up on its way. The types of the objects reached are the answer, each with the chain
// that proves it.
#pragma once

#include "solve/Result.h"
#include "solve/reach/Contents.h"

namespace nvmove::solve {

class LeftBehind {
public:
  LeftBehind(const Program &P, const Visits &V, const Contents &Kept);

  /// The persistent types, by name. \p Saved restricts them to types that the save reads and what
  /// objects of these keep.
  std::vector<PersistentType> types(const std::set<RecordKey> *Saved) const;
  /// The same as records of the program.
  std::set<RecordKey> records(const std::set<RecordKey> *Saved) const;
  /// Allocations without a record whose memory is left behind and leads to input: arrays, texts.
  std::set<const facts::Instruction *> untypedData() const;
  /// Sentences that say why the type called \p Name was not left behind.
  std::vector<std::string> whyNot(const std::string &Name) const;

private:
  /// How the walk first came to an object.
  struct Reach {
    ObjectId From = None; ///< None: a root itself.
    int64_t Offset = 0;   ///< The cell of From.
    unsigned Steps = 0;
  };
  struct Found {
    ObjectId Object = None;
    Confidence Sureness = Confidence::High;
    std::string Why;
    Site TypeSite;
    std::string TypeText;
  };

  void walk();
  void findData();
  std::set<RecordKey> kept(const std::set<RecordKey> &Saved) const;
  std::map<RecordKey, Site> uses(const Object &What) const;
  bool isExtension(RecordKey Longer, RecordKey Base) const;
  bool isMachinery(ObjectId Id) const;
  /// Where all it leads to is machinery, it is the record that manages that: a log of segments.
  bool keepsOnlyMachinery(ObjectId Id) const;
  void collect(ObjectId Id);
  bool holdsInput(ObjectId Id) const;
  std::pair<Confidence, std::string> sureness(ObjectId Id) const;
  bool fedNearInput(NodeId Cell) const;
  bool isFilledTable(const Object &What, const RecordField &Field) const;
  void collectUpdated(ObjectId Id);
  void offer(RecordKey Key, Found Candidate);
  std::string whyNotKept(ObjectId Id) const;
  std::string unvisitedMakers(RecordKey Key) const;
  std::vector<EvidenceStep> chain(const Found &F) const;
  EvidenceStep inputStep(ObjectId Id) const;
  void callChain(InstanceId In, std::vector<EvidenceStep> &Steps) const;
  void storeChain(ObjectId Id, std::vector<EvidenceStep> &Steps) const;
  SourcePlace place(const Site &Where) const;
  std::string objectName(ObjectId Id) const;
  std::string cellName(ObjectId Id, int64_t Offset) const;

  const Program &P;
  const Visits &V;
  const PointsTo &Graph;
  const Contents &Kept;
  std::set<RecordKey> Machinery; ///< Types of what holds the handle.
  std::map<ObjectId, Reach> Reached;
  std::set<ObjectId> Data; ///< Objects from which input can be reached.
  std::map<RecordKey, Found> Types;
};

} // namespace nvmove::solve
