// Signs.h: what can be seen of a function without an analysis: whether it, or what it calls directly,
// opens files, reads, writes and makes records; and what its name says. For Suggest.h.
#pragma once

#include "solve/summary/Inference.h"

#include <map>
#include <set>

namespace nvmove::solve {

/// Of a function and all that it calls directly.
struct FunctionSigns {
  unsigned Distance = ~0u; ///< Calls to the nearest function that opens a file; ~0u: none is near.
  double Functions = 0;    ///< Each counts the less, the more calls away it is; so do records.
  bool Reads = false, Writes = false, Maps = false;
  bool TakesHandle =
      false;          ///< Itself: a parameter is a stream or a descriptor that is read or written.
  double Records = 0; ///< Reading: that it allocates. Writing: that it looks into.
  size_t RecordCount = 0;
};

struct NameSign {
  double Points = 0; ///< Below 0: a word that speaks against it.
  llvm::StringRef Word;
  std::string Partner; ///< The function whose name is the same but for that word.
};

class Signs {
public:
  enum Direction { Reading, Writing };

  Signs(const Program &P, const Inference &Known);

  FunctionSigns below(FunctionId Id, Direction Way) const;
  NameSign name(FunctionId Id, Direction Way) const;

private:
  struct Own {
    bool Opens = false, OpensToWrite = false, Reads = false, Writes = false, Maps = false;
    bool TakesHandle = false;
    std::set<RecordKey> Allocated, Seen;
    std::set<FunctionId> Called; ///< Also those whose address it takes: threads, handlers.
  };

  void look(FunctionId Id);
  void lookAtCall(FunctionId Id, const facts::Instruction &Call);
  std::vector<unsigned> distances(bool Own::*Opens) const;

  const Program &P;
  const Inference &Known;
  std::vector<Own> Owns;                   ///< By FunctionId.
  std::vector<unsigned> ToRead, ToWrite;   ///< By FunctionId: calls to a function that opens.
  std::map<std::string, FunctionId> Lower; ///< By name, in small letters.
};

} // namespace nvmove::solve
