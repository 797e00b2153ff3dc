// Which type of the program takes the place of one of the pool's.
#pragma once

#include "pool/FieldMap.h"
#include "pool/Layouts.h"

namespace nvmove::pool {

/// The type itself where the program has it, or knows none of its name. Names may be shared, since
/// each source may have a struct of the same tag: they decide only where they leave one answer.
/// \p Change: what the map says of the type, or null.
llvm::Expected<const nvm_type *> successorOf(const nvm_type &Type, const TypeChange *Change,
                                             const Layouts &Pool, const Layouts &Program);

} // namespace nvmove::pool
