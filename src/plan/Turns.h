// Where a transaction may end: on entry to the functions by which an answer leaves. A function that has
// made a half of a change while an answer leaves is atomic; so is one whose change no commit point follows
// before its answer.
//
//   change   a store to what moves, or to a root
//   answer   a call by which something leaves the program (solve/summary/Outputs.h), but for its error output;
//            of a program that flushes its streams, the flush, and what is printed before the same
//            function reads the standard input
//   running  what the program does besides loading and saving
//
// A call within a function is in the middle of a change when records or arrays are changed before it and
// again behind it, in the same turn of the innermost loop, and not in branches of which only one runs.
#pragma once

#include "plan/Moved.h"

#include "solve/summary/Outputs.h"

namespace nvmove::plan {

class Turns {
public:
  Turns(const Program &P, const Inference &Known, const Everything &All, const Moved &What,
        llvm::ArrayRef<FunctionId> Load, llvm::ArrayRef<FunctionId> Save);

  /// Functions whose entry comes before an answer.
  const std::set<FunctionId> &commit() const { return Commit; }
  /// Functions each call of which is one transaction.
  const std::set<FunctionId> &atomic() const { return Atomic; }
  /// Answers that may leave before what they tell of is durable.
  const std::vector<Site> &early() const { return Early; }
  /// Changes behind the answer that tells of them, in the same function.
  const std::vector<Site> &late() const { return Late; }
  /// True when main, or a thread's function, answers by itself what it has changed by calls.
  bool entryAnswers() const { return EntryAnswers; }
  /// Itself, or by what it calls.
  bool answers(InstanceId In) const { return Answering.count(In) != 0; }
  bool changes(InstanceId In) const { return Changed.count(In) != 0; }
  /// Whether \p In opens a file to write it.
  bool opensToWrite(InstanceId In) const;
  /// While the program runs, apart from loading and saving.
  bool runs(InstanceId In) const { return Running.count(In) != 0; }

private:
  struct Seen {
    std::vector<const facts::Instruction *> Changes, Builds, Answers;
  };

  void findRunning(llvm::ArrayRef<FunctionId> Load, llvm::ArrayRef<FunctionId> Save);
  void look(InstanceId In);
  std::optional<Output> output(InstanceId In, const facts::Instruction &Call) const;
  bool flushes() const;
  bool isStream(InstanceId In, const facts::Instruction &Call, int Where,
                llvm::StringRef Name) const;
  bool isErrorOutput(InstanceId In, const facts::Instruction &Call, int Where) const;
  bool readsStandardInput(InstanceId In, const facts::Instruction &Call) const;
  bool isPrompt(InstanceId In, const facts::Instruction &Call, const Output &Out) const;
  bool isAnswer(InstanceId In, const facts::Instruction &Call) const;
  bool isChange(InstanceId In, const facts::Instruction &I) const;
  bool leadsToMoving(InstanceId In, facts::Register Address, bool Bytes) const;
  bool leadsToRoot(InstanceId In, facts::Register Address) const;
  bool changesMoving(InstanceId In, const facts::Instruction &I, bool Bytes) const;
  void spread();
  bool isHalfDone(InstanceId In, const facts::Instruction &Call);
  bool findHalfDone(InstanceId In, const facts::Instruction &Call) const;
  std::set<InstanceId> amidst(InstanceId In);
  bool comesBehindChange(InstanceId In) const;
  void choose();
  void chooseAll();
  void dropNested();
  void findLate();
  void findAmidAtomic();
  void chooseFor(InstanceId In, std::set<InstanceId> &Tried);
  void chooseAtomic(InstanceId In, std::set<InstanceId> &Tried);

  const Program &P;
  const Inference &Known;
  const Everything &All;
  const Moved &What;
  std::set<InstanceId> Running;
  bool Flushes = false; ///< What streams have leaves with a flush.
  std::map<InstanceId, Seen> Events;
  std::map<std::pair<InstanceId, const facts::Instruction *>, bool> HalfDone;
  std::set<InstanceId> Changed, Answering; ///< Themselves, or what they call.
  std::set<InstanceId> Building;           ///< The same, of records and arrays that move.
  std::set<FunctionId> Asking;             ///< They print, and then read the standard input.
  std::set<FunctionId> Commit, Atomic;
  std::vector<Site> Early, Late;
  bool EntryAnswers = false;
};

} // namespace nvmove::plan
