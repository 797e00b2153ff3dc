// Which parts of a function's body run in one course: regions of facts (facts/Facts.h) compared.
#pragma once

#include "facts/Facts.h"

namespace nvmove::plan {

/// The nearest loop around region \p At; 0: the body.
uint32_t innermostLoop(const facts::Function &Body, uint32_t At);

/// False for two branches beside each other: of "if ... else" and "switch" one runs.
bool mayBothRun(const facts::Function &Body, uint32_t A, uint32_t B);

bool isWithin(const facts::Function &Body, uint32_t At, uint32_t Outer);

/// True when a branch around \p First ends in a return before \p Later.
bool leavesBefore(const facts::Function &Body, const facts::Instruction &First,
                  const facts::Instruction &Later);

} // namespace nvmove::plan
