// Flexible arrays of a record: at most one is left, which says what lies behind the record.
#pragma once

#include "Flattener.h"

namespace nvmove::plugin {

/// An array without a length inside a record is a mark: what it would have is described by what
/// lies there. Of several at the end each may be what the program uses. They become one: plain
/// bytes if none has pointers, itself if they are the same, words that nobody decides otherwise.
void settleTails(const Flattener &Flatten, Words &All, const TypeLayout &Type);

bool hasTail(const Words &All);

} // namespace nvmove::plugin
