// The transactions of a trace: what each changed, and which states of the data are right.
//
// Which states are right. Let a crash come at some moment of the trace. Transactions that have
// returned from their commit by then (COMMIT) are in every right state, for their thread was told
// so. Those that have not reached their commit (COMMITTING) are in none. In between stand those
// that are committing, at most one a thread: each is there as a whole or not at all, whichever the
// moment decides; but one that depends on another, since it acquired a lock that the other released
// while open, is not there without that other. So with committed data C and committing transactions
// t1..tn the right states are those of C and each subset of the t that is closed under dependence,
// applied in the order of their COMMIT events. That order is the order of conflicting transactions:
// when a lock is held until the commit has returned, the second starts behind the first's COMMIT;
// when it is released before, the runtime lets the second's commit begin behind it. What joined
// another transaction belongs to that one. Two that are open at the same time and write the same
// byte without either have no order, and that is a finding (Rules.h).
//
// Bytes are compared that the program ever stored, in blocks that are allocated in that state;
// everything else is the runtime's own business. Left out are bytes that code stored which nobody
// saw, since it is not known when, and bytes that were ever stored without a log entry: of both the
// rules have told.
#pragma once

#include "crash/Trace.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace nvmove::crash {

/// Some bytes of a line.
struct LineBytes {
  uint64_t Mask = 0;
  char Bytes[LineSize] = {};

  void set(unsigned At, char Byte) {
    Mask |= uint64_t(1) << At;
    Bytes[At] = Byte;
  }
};
using Data = std::map<uint64_t, LineBytes>; ///< by number of the line

struct Transaction {
  Data Lines;
  std::vector<std::pair<uint64_t, uint64_t>> Allocated, Freed; ///< place, bytes
  unsigned Thread = 0;
  size_t Began = 0;      ///< its BEGIN, or the first of its events
  size_t Committing = 0; ///< event
  bool IsSplit = false;  ///< a split point ended it
  size_t End = SIZE_MAX; ///< its COMMIT event; SIZE_MAX: the trace ends before
  std::vector<size_t>
      DependsOn; ///< numbers of those that were open when a lock of theirs came over

  /// Changes \p D to what it is behind this transaction.
  void apply(Data &D) const;
};

/// Those that reached their commit and were not undone, in the order of their COMMIT.
std::vector<Transaction> transactionsOf(const Trace &T);

/// Bits of the bytes of \p Line that lie in [From, To).
uint64_t maskOf(uint64_t Line, uint64_t From, uint64_t To);

/// The program's data while one goes through the trace.
class History {
public:
  explicit History(const Trace &T);

  /// Goes over event number \p At. True: the right states are others now.
  bool pass(const Trace &T, size_t At);

  size_t commits() const { return Now; }
  /// Of all transactions.
  size_t size() const { return All.size(); }
  /// Of the committed data.
  const Data &lines() const { return Lines; }
  /// Numbers of those that are committing.
  const std::vector<size_t> &open() const { return Open; }
  const Transaction &transaction(size_t N) const { return All[N]; }
  /// The lines that pass() changed since it was asked.
  std::vector<uint64_t> takeChanged() { return std::exchange(Changed, {}); }
  /// Bytes that are never compared.
  uint64_t unknown(uint64_t Line) const;

private:
  void forget(uint64_t Place, uint64_t Bytes);

  std::vector<Transaction> All;
  llvm::DenseMap<size_t, size_t> Begins, Ends; ///< event -> number
  std::map<uint64_t, uint64_t> Unseen;         ///< line -> bytes
  std::vector<size_t> Open;
  Data Lines;
  std::vector<uint64_t> Changed;
  size_t Now = 0;
};

} // namespace nvmove::crash
