// Flexible arrays of a record: at most one is left, which says what lies behind the record.
#pragma once

#include "frontend/Flattener.h"

namespace nvmove::plugin {

struct Extent {
  uint64_t End; ///< bytes, from where offsets are counted
  uint64_t Alignment;
};

/// An array without a length inside a record lies over the members behind it. What words these have
/// describes what lies there, and where its elements are plain bytes it is a mark alone; but words
/// that would be plain under its pointers are decided by nobody.
Words layInnerOver(const Flattener &Flatten, Words All, const Extent &Record);

/// What is left of such an array of a union's member: what a block may have behind the union.
Words spill(const Flattener &Flatten, const Word &Tail, const Extent &Union);

/// Of several arrays at the end each may be what the program uses. They become one: plain
/// bytes if none has pointers, itself if they are the same, words that nobody decides otherwise.
void decideTails(const Flattener &Flatten, Words &All, const TypeLayout &Type);

bool hasTail(const Words &All);

} // namespace nvmove::plugin
