// Which notes stand together, so that one wait serves several writes.
//
// With undo, a note waits until its log entry is durable: a fence before each write. Writes that
// follow one another in a block, with nothing between them but computation, can be noted together
// before the first of them: the entries are appended, one fence waits for all, then the writes go.
//
// Why that is sound. A note may stand earlier than its write where three things hold. The write
// surely follows: nothing in between may commit, leave, or not return, so no byte is noted that is
// not written (rolling it back would take what another thread wrote). The old bytes are the same:
// an entry taken before the first of the writes holds what the transaction has to restore, and
// where two writes overlap, undoing newest first ends with it. And the bytes are the thread's
// already: nothing in between synchronises (no call, no atomic or volatile access, no fence), so a
// program without data races holds at the first write whatever lock guards the others.
//
// What a group does not do: cross blocks, or wait for an address that is loaded in between.
#pragma once

#include "ir/Commits.h"
#include "ir/Notes.h"

namespace nvmove::plugin {

/// Sorts \p Notes, whose places are in \p F, into groups; the notes of a group may stand before its
/// first. Moves the computation of their addresses and lengths there.
llvm::SmallVector<llvm::SmallVector<Note>> groupNotes(llvm::Function &F,
                                                      llvm::ArrayRef<Note> Notes);

} // namespace nvmove::plugin
