// `nvmove pool dump`: the objects of a pool, with their types and values.
#pragma once

#include "pool/OpenPool.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::pool {

struct DumpOptions {
  std::string Type; ///< only blocks of this type; empty: all
  enum { Text, Json, Graph } Form = Text;
};

/// An error when \p Name is no type that the pool knows.
llvm::Error checkType(const OpenPool &Pool, const std::string &Name);

/// Text: an object a paragraph. Json: an object a line. Graph: Graphviz, an edge for each pointer.
/// In the order of their places; a block may hold several objects of its type.
/// \p Unknown: why it is not known which of them the root leads to; then none is called
/// unreachable.
llvm::Error dump(llvm::raw_ostream &OS, const OpenPool &Pool, const DumpOptions &Options,
                 std::string &Unknown);

} // namespace nvmove::pool
