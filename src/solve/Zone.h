// The visited zone: the part of the program that the load runs through with something in its hands.
//
// The input is the open nearest to the load function; what else is opened further away
// (configuration, logs, devices) is not, and when the nearest is more than OpenNear calls away,
// what the load function is given is the input: a document that is in memory already. Starting from
// the load functions, a call is followed when it has contact with the input: it is given the
// handle, input, an object made in the zone, or a local that holds one of these. A call without
// contact is followed only if its pointer result is used, or what it stores in a local, or it leads
// down to the open, or makes a table for the load function itself, or allocates in state that its
// caller then fills with input, and never more than ContactlessMax in a row; nor are more than
// RemovedMax calls in a row that carry only what was built and no input. An object that holds input
// and is not yet linked to memory older than the load is input still: a decode record; one that is
// linked is built. Calls through pointers are resolved by what the pointer holds, else by
// FunctionFlow, else by signature, and then need contact; one with more than FewTargets candidates
// needs input, one with more than SomeTargets is an event and needs the handle or a whole record
// that was read. Error exits and logging are left out. The points-to engine and the visiting take
// turns until neither has anything new.
//
// An Instance is one visit of a function: functions that take or return generic pointers (container
// libraries, constructors, hooks embedded in records) are visited anew from each call site, up to
// CloneDepthMax deep, so that what one owner keeps in a container is not seen in all of them.
#pragma once

#include "solve/FunctionFlow.h"
#include "solve/Heuristics.h"
#include "solve/Inference.h"
#include "solve/PointsTo.h"
#include "solve/SharedState.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace nvmove::solve {

struct Instance {
  FunctionId Function = None;
  NodeId First = None; ///< Node of register 0; the result's node comes after the last register.
  NodeId Result = None;
  Site Via; ///< The call that led here first; At is null for a load function.
  unsigned Contactless = 0;
  unsigned CloneDepth = 0;
  unsigned Removed = 0; ///< Calls since the input was handed over; contactless ones count twice,
                        ///< but for constructors.
  unsigned Entered = 0; ///< Removed when it was first visited: how far its own memory is.
  std::map<facts::SymbolId, ObjectId> Locals;
};

class Zone {
public:
  Zone(const Program &P, const Inference &Known, const FunctionFlow &Flow, uint64_t StepsMax);

  /// Visits everything the functions \p Load reach with the input in hand.
  void visit(llvm::ArrayRef<FunctionId> Load);

  PointsTo &graph() { return Graph; }
  const PointsTo &graph() const { return Graph; }
  const Instance &instance(InstanceId Id) const { return Instances[Id]; }
  const std::vector<InstanceId> &loads() const { return Loads; }
  std::set<FunctionId> visited() const;
  std::vector<Site> unresolved() const; ///< Calls without a target.
  const std::vector<std::string> &notes() const { return Notes; }
  /// The analysis was stopped before it was done.
  bool stopped() const { return Stopped; }
  NodeId node(InstanceId In, facts::Register R) const;
  const FunctionInfo &functionOf(InstanceId In) const { return P.function(Instances[In].Function); }

  /// What an object directly keeps, refreshed in every round, after its last step too.
  struct Content {
    bool Input = false, Handle = false, Fresh = false;
    bool Linked = false; ///< Reachable from memory that is older than the load.
    bool Source = false; ///< It or what it points to holds the handle.
    bool Staged = false; ///< It or what it points to is a source, or holds input and is not linked.
    bool Buffer = false; ///< Globals: points to characters that were read.
  };
  const Content &content(ObjectId Id) const {
    static const Content Nothing; // Made since the last refresh.
    return Id < Contents.size() ? Contents[Id] : Nothing;
  }

private:
  enum class Look { First, Again, Event }; ///< Again: in a later round. Event: one of many hooks.
  struct PendingCall {
    InstanceId In;
    const facts::Instruction *Call;
    std::set<FunctionId> Followed;
    ObjectId Made = None;  ///< Allocations: the object.
    size_t Seen = 0;       ///< Size of the argument sets when last considered.
    bool Resolved = false; ///< Had any target at all.
  };

  // Zone.cpp; Seeds.cpp: where the input is
  InstanceId enter(FunctionId Id, Site Via, bool Contact, unsigned Removed);
  void translate(InstanceId In);
  void instruction(InstanceId In, const facts::Instruction &I);
  void load(InstanceId In, const facts::Instruction &I);
  NodeId addressOf(InstanceId In, const facts::Instruction &I);
  void initialisers();
  void refreshContents();
  void findLinked();
  void findGlobalReaders();
  void spreadToCallers(std::vector<FunctionId> Level, std::vector<bool> &Marked) const;
  bool keepsBuffer(ObjectId Global) const;
  bool keepsMade(GlobalId Global) const;
  bool keepsReader(ObjectId Global) const;
  bool looksLikeStream(const Shape &Parameter) const;
  bool seedParameters(llvm::ArrayRef<FunctionId> Load, bool Guess);
  void measure(llvm::ArrayRef<FunctionId> Load);
  void findWay();
  bool opens(const FunctionInfo &In, const facts::Instruction &Call) const;
  bool isTheInput(const PendingCall &Call) const;
  void rounds();
  bool asksForSize(Site Via) const;
  bool isGeneric(const FunctionInfo &F) const;

  // Calls.cpp
  bool consider(PendingCall &Call);
  bool considerDirect(PendingCall &Call, Entity Callee);
  bool considerIndirect(PendingCall &Call);
  std::set<FunctionId> storedTargets(const PendingCall &Call) const;
  bool follow(PendingCall &Call, FunctionId Target, bool Direct);
  unsigned removed(const PendingCall &Call, FunctionId Target, bool Contact, Look How) const;
  bool makesOnly(const FunctionInfo &F) const;
  bool sharesGlobal(const PendingCall &Call, FunctionId Target) const;
  bool gives(const PendingCall &Call, FunctionId Id) const;
  bool bringsInput(InstanceId In, facts::Register R) const; // This and the next: SharedState.cpp
  bool preparesState(const PendingCall &Call, FunctionId Target);
  bool fillParameters(PendingCall &Call, FunctionId Target);
  void link(const PendingCall &Call, InstanceId Callee);
  bool contact(NodeId N) const;
  bool carriesHandle(const PendingCall &Call) const;
  bool isLogging(const PendingCall &Call, const Entity &Callee) const;
  bool carriesInput(const PendingCall &Call, Look How) const;
  bool contact(const PendingCall &Call) const;
  /// Grows whenever the arguments, or what they point to, may mean more than before.
  size_t argumentSize(const PendingCall &Call) const;
  facts::Register argument(const PendingCall &Call, int Number) const;
  NodeId argumentNode(const PendingCall &Call, int Number) const;
  NodeId resultNode(const PendingCall &Call) const;
  bool leadsToInput(FunctionId Id) const;

  // Transfer.cpp: calls whose effect is known. Libraries.cpp: the others.
  bool applyEffect(PendingCall &Call, const ExternalEffect &E);
  bool start(PendingCall &Call, const ExternalEffect &E);
  bool open(PendingCall &Call, const ExternalEffect &E);
  bool read(PendingCall &Call, const ExternalEffect &E);
  bool provide(PendingCall &Call, const ExternalEffect &E, bool Grown);
  bool givesSizeOf(const PendingCall &Call, RecordKey Record) const;
  bool received(const PendingCall &Call, int Number) const;
  void storeBehind(PendingCall &Call, int Number, LocationId What);
  bool allocate(PendingCall &Call, ObjectKind Kind, std::initializer_list<int> Sizes, NodeId To);
  void addPoolSizes(const PendingCall &Call, std::set<RecordKey> &Given) const;
  void typeAtBirth(PendingCall &Call, ObjectId Made, std::initializer_list<int> Sizes);
  void noteFreed(const PendingCall &Call, const ExternalEffect &E);
  static bool staysUntil(const facts::Instruction &Allocation, const facts::Instruction &Release,
                         const facts::Function &Body, const std::set<facts::Register> &Pointers);
  void copyMemory(PendingCall &Call, int To, int From);
  bool generalRule(PendingCall &Call, ExternalId Callee);
  void fillBehind(PendingCall &Call, int From, int To);
  llvm::StringRef signature(const PendingCall &Call) const;
  bool callBack(PendingCall &Call);
  bool isLibrarys(ObjectId Id) const;
  void keptCallbacks(ObjectId Id, bool Nested, std::set<FunctionId> &Found) const;
  bool isForeign(const Shape &Type) const;
  void containerRule(PendingCall &Call);
  bool pointsToGeneric(NodeId N) const;

  const Program &P;
  const Inference &Known;
  const FunctionFlow &Flow;
  PointsTo Graph;
  std::vector<Instance> Instances;
  std::map<std::tuple<FunctionId, InstanceId, const facts::Instruction *>, InstanceId> Entered;
  std::map<FunctionId, unsigned> Clones;
  std::map<FunctionId, std::unique_ptr<SharedState>> States;
  std::vector<PendingCall> Calls;
  std::vector<InstanceId> Loads;
  std::vector<Content> Contents;
  std::vector<bool> OnTheWay; ///< By FunctionId: between a load function and the nearest open.
  std::vector<bool> ReadsInputGlobal, ReadsHandleGlobal; ///< By FunctionId: themselves or below.
  std::vector<unsigned> Distance; ///< By FunctionId: direct calls from the load functions.
  unsigned NearestOpen = ~0u;     ///< Distance of the first function that opens something.
  std::vector<std::vector<GlobalId>> GlobalsUsed;
  std::set<RecordKey> Embedded; ///< Records that lie in others by value: list hooks, headers.
  std::vector<std::string> Notes;
  bool HandleSeen = false;
  bool InputGiven = false; ///< A parameter of a load function is the input: no open is.
  bool BoundHit = false;
  bool Stopped = false;
};

/// True when parameter \p Number of a function with this signature text points to const.
bool parameterIsConst(llvm::StringRef Signature, unsigned Number);

} // namespace nvmove::solve
