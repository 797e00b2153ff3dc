// What a port file lacks that the source asks for: a new allocation, a new variable, a new field. The file's
// own scopes are carried out (Scopes.h), so another choice of scopes than the plan's is no finding.
#pragma once

#include "plan/Scopes.h"

#include "port/PortFile.h"

namespace nvmove::plan {

/// One finding for each, by place.
std::vector<DriftLine> findDrift(const Program &P, const Everything &All, const Moved &What,
                                 const Plan &Fresh, const port::PortFile &File);

} // namespace nvmove::plan
