// The smallest loss with the same verdict.
#pragma once

#include "crash/Media.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nvmove::crash {

/// \p C with as many of its lines as possible at their last version: what is given back in one
/// piece and changes nothing for \p StillFails is no part of the loss. Of the lines that are, as late a
/// version as still fails.
Choices minimised(Choices C, llvm::function_ref<bool(const Choices &)> StillFails);

} // namespace nvmove::crash
