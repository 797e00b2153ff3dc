// Facts about functions that hold whatever the input is: who never returns, who allocates or frees
// on behalf of others, who calls whom.
//
//   noreturn    a call on the way every run takes (the body region) never returns
//   allocator   returns the memory of another allocator and passes a parameter on as its size
//   pool        returns a generic pointer, takes no generic pointer, and reaches an allocator by
//               direct calls: it hands out memory that it keeps in stock
//   logger      formats its variable arguments and gives no pointer back
//   filler      hands a parameter on as the memory that a read fills
//   destructor  gives no pointer back, keeps no parameter, and passes one on to be freed; or is
//               given the address of a pointer, the only one it takes, and frees what that points to
//
// A function that stamps a type on its memory, or takes a pointer to content, is a constructor,
// not an allocator: its body is worth a visit.
#pragma once

#include "solve/program/Program.h"
#include "solve/summary/Externals.h"

#include <set>
#include <vector>

namespace nvmove::solve {

struct CallSite {
  FunctionId Caller = None;
  const facts::Instruction *Call = nullptr;
};

class Inference {
public:
  explicit Inference(const Program &P);

  bool noReturn(FunctionId Id) const { return NoReturn[Id]; }
  bool formats(FunctionId Id) const { return Formats[Id]; }
  /// Allocate, Resize or Release with argument numbers; Unknown for everything else.
  const ExternalEffect &standsFor(FunctionId Id) const { return StandsFor[Id]; }
  /// The effect of a call that names \p Callee, through wrappers.
  ExternalEffect effect(const Entity &Callee) const;
  bool neverReturns(const Entity &Callee) const;
  bool isLogging(const Entity &Callee) const;

  /// Direct calls of \p Id, and the places it is called directly from.
  const std::vector<FunctionId> &callees(FunctionId Id) const { return Callees[Id]; }
  const std::vector<CallSite> &callers(FunctionId Id) const { return Callers[Id]; }

  /// Global variables that keep what \p Id itself allocates: a table to be filled, a free list.
  std::set<GlobalId> setsUp(FunctionId Id) const;

  /// True when \p Id stores a pointer that some call gives it behind a pointer to a pointer that it
  /// is given: "if (!*list) *list = list_new();".
  bool makesBehind(FunctionId Id) const;

  /// Parameters whose memory \p Id, or what it calls directly, reads input into.
  const std::set<unsigned> &filledParameters(FunctionId Id) const { return FillsParameter[Id]; }

  /// True when \p Id, or what it calls a few calls deep, allocates.
  bool mayAllocate(FunctionId Id) const { return Allocates[Id]; }

  /// True for regions of \p Id that a call which never returns ends: error exits.
  std::vector<bool> deadRegions(FunctionId Id) const;

private:
  void indexCalls();
  void inferNoReturn();
  void inferAllocators();
  void inferFilled();
  void inferFormats();
  bool inferAllocator(FunctionId Id);
  bool inferPool(FunctionId Id, const std::vector<bool> &ReachesAllocator);
  bool inferDestructor(FunctionId Id);
  std::vector<bool> reachAllocator() const;
  bool stampsType(const FunctionInfo &F) const;
  bool reads(FunctionId Id, bool Itself = false) const;

  const Program &P;
  std::vector<std::set<unsigned>> FillsParameter;
  std::vector<bool> Formats;
  std::vector<bool> NoReturn;
  std::vector<bool> Allocates;
  std::vector<ExternalEffect> StandsFor;
  std::vector<ExternalEffect> Effects; ///< By ExternalId.
  std::vector<std::vector<FunctionId>> Callees;
  std::vector<std::vector<CallSite>> Callers;
};

/// Registers whose value may reach register \p R of \p Body by copies and arithmetic, itself
/// included.
std::set<facts::Register> registersBehind(const facts::Function &Body, facts::Register R);

/// Parameters (by number) whose value may reach register \p R of \p Body by copies and arithmetic.
std::vector<unsigned> parametersBehind(const facts::Function &Body, facts::Register R);

} // namespace nvmove::solve
