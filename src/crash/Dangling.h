// Pointers to blocks that the program has freed, and to where nothing was allocated.
//
// The rule: when a transaction has committed, no field that a type describes as a pointer, and not
// the root, leads to where nothing is allocated then. Each commit is looked at by itself, since a
// crash may leave each: who frees in one transaction and unlinks in the next has the defect in
// between. Told is the free of the block or, where that came in an earlier transaction, the store of
// the pointer. A block is given out again only when the transaction that freed it has committed, so
// who keeps a pointer to one that is given out later, as whichever type, was told at that commit.
//
// How. The trace says which words of the committed data are addresses, and where blocks are. Only
// where one leads to no block is the pool asked (nvm_pool_each_bad_pointer), so that `nvmove pool
// check` and this agree on what is a pointer, and on pointers to the end of an array.
//
// What it does not do: a pointer to a freed block that is stored when the block is given out again
// leads to a block, and its type is not compared; pointers at addresses that are no multiple of 8;
// what led nowhere before the run.
#pragma once

#include "crash/Guilty.h"
#include "crash/Options.h"
#include "crash/Result.h"
#include "crash/Transactions.h"

namespace nvmove::crash {

/// Adds findings "dangling pointer".
void findDangling(const Trace &T, const History &H, const Stores &All, const Options &O, Result &R);

} // namespace nvmove::crash
