// Numbers and texts in variables that the load sets and the running program uses: counts, the next number
// to give, a name. A restart leaves the load out, so they have to be roots. So do those that the running
// program sets where it changes the data, or in a variable that leads to the data, beside the pointer. And so do
// pointers to functions, variables and texts of the program that the load sets. What belongs to one process is none
// of them (ProcessOwn.h).
#pragma once

#include "plan/Moved.h"
#include "plan/ProcessOwn.h"

namespace nvmove::plan {

class SharedNumbers {
public:
  SharedNumbers(const Program &P, const Inference &Known, const Everything &All, const Moved &What);

  /// Cells of variables, with a place where they are set.
  std::map<Cell, SourcePlace> cells() const;
  /// Variables that the running program sets and uses: pointers, and numbers that the load does not set.
  std::set<ObjectId> others() const;

  struct OfProcess {
    SourcePlace Where;
    llvm::StringRef Maker; ///< A function of the C library.
  };
  /// Variables that the load sets to what belongs to its process.
  const std::map<ObjectId, OfProcess> &ofProcess() const { return Process; }

private:
  void look(InstanceId In);
  void lookAtAllocators(const Inference &Known);
  bool changesData(InstanceId In) const;
  void lookAtPointer(InstanceId In, const facts::Instruction &I);
  bool leadsToStatics(Cell At) const;
  bool isLeftOut(Cell Pointer) const;
  bool goesWithLeftOut(Cell At) const;
  void lookAtCall(InstanceId In, const facts::Instruction &Call, bool Loads, bool Changes);
  template <typename Take> void eachCell(InstanceId In, facts::Register Address, Take Do) const;
  bool mayWrite(InstanceId In, const facts::Instruction &Call, unsigned Argument) const;

  const Program &P;
  const ProcessOwn OfOne;
  const Everything &All;
  const PointsTo &Graph;
  const Moved &What;
  std::map<Cell, SourcePlace> Set; ///< By the load.
  std::set<Cell> Used;             ///< By the running program.
  std::set<Cell> Own;              ///< Set by the running program.
  std::set<Cell> OwnPointers, UsedPointers;
  std::map<Cell, SourcePlace> SetPointers; ///< By the load, to what the program has by itself.
  std::map<ObjectId, OfProcess> Process;
  std::map<Cell, SourcePlace> Kept; ///< Set by the running program, beside what leads to the data.
  std::map<Cell, std::set<InstanceId>> KeptIn;
  std::map<InstanceId, std::set<Cell>> PointersIn; ///< Variables that it uses or sets.
  std::set<ObjectId> Leading;                      ///< Variables that lead to the data.
  std::set<ObjectId> Buffers; ///< Arrays of characters that the running program reads into.
};

} // namespace nvmove::plan
