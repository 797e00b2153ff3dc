// Messages about bytes: see Telling.h.
#include "crash/Telling.h"

#include "crash/Inspection.h"
#include "crash/MemberName.h"
#include "crash/Rules.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>

namespace nvmove::crash {
namespace {

constexpr size_t TransactionsNamed = 2;

/// Where a transaction begins and commits; \p Which: "its", "the other".
void addTransaction(const Trace &T, const Transaction &C, const std::string &Which, Finding &F) {
  const Event &Begin = T.Events[C.Began];
  const Site *First = T.site(Begin.Extra), *Commit = T.site(T.Events[C.Committing].Extra);
  if (Begin.Kind == NVM_TRACE_ALLOC || Begin.Kind == NVM_TRACE_FREE)
    First = nullptr;
  bool IsExplicit = Begin.Kind == NVM_TRACE_BEGIN;
  F.Notes.push_back({First, llvm::formatv("{0} transaction, of thread {1}, {2}{3}", Which, C.Thread,
                                          IsExplicit ? "begins" : "is outside begin and commit",
                                          First ? (IsExplicit ? " here" : "; its first store") : "")
                                .str()});
  if (Commit && Commit->Line)
    F.Notes.push_back({Commit, Which + " transaction commits here"});
}

/// The one that event \p At belongs to; null: it was undone, or joined another.
const Transaction *transactionOf(const Known &K, size_t At) {
  for (size_t N = 0; At < K.T.Events.size() && N < K.H.size(); ++N) {
    const Transaction &C = K.H.transaction(N);
    if (C.Thread == K.T.Events[At].Thread && C.Began <= At && At <= C.Committing)
      return &C;
  }
  return nullptr;
}

bool changes(const Transaction &C, uint64_t Place) {
  auto Found = C.Lines.find(Place / LineSize);
  return Found != C.Lines.end() && Found->second.Mask >> Place % LineSize & 1;
}

/// The one that stored last to \p Place, and those that did so while it was open.
std::vector<const Transaction *> lastTo(const Known &K, uint64_t Place, size_t At) {
  const Transaction *Last = transactionOf(K, K.All.of(Place, At).Event);
  std::vector<const Transaction *> Who;
  if (!Last)
    return Who;
  Who.push_back(Last);
  for (size_t N = 0; N < K.H.size(); ++N)
    if (const Transaction &C = K.H.transaction(N);
        &C != Last && changes(C, Place) && C.Began < Last->End && Last->Began < C.End)
      Who.push_back(&C);
  return Who;
}

/// The bytes of a field that \p D has; the others stay as they are in \p Value.
uint64_t valueIn(const Data &D, const Field &F, uint64_t Value) {
  for (unsigned I = 0; I < F.Size; ++I) {
    uint64_t Place = F.Place + I;
    auto Found = D.find(Place / LineSize);
    if (Found == D.end() || !(Found->second.Mask >> Place % LineSize & 1))
      continue;
    Value &= ~(uint64_t(0xff) << 8 * I);
    Value |= uint64_t(static_cast<unsigned char>(Found->second.Bytes[Place % LineSize])) << 8 * I;
  }
  return Value;
}

/// What the crash left, and what is right.
struct Values {
  std::string Name;
  uint64_t Is, Before, After;
};

/// Of the whole field where it is a number, else of the byte.
Values valuesOf(const Known &K, const Judgement &Said, const Field &F,
                const std::vector<const Transaction *> &Who) {
  if (!F.Size) {
    std::string Byte = llvm::formatv("byte {0:x} of the pool", Said.Place).str();
    return {F.Name.empty() ? Byte : F.Name, Said.Found, Said.Before, Said.After};
  }
  uint64_t Before = valueIn(K.H.lines(), F, F.Value), After = Before;
  for (const Transaction *C : Who)
    After = valueIn(C->Lines, F, After);
  if (F.Value == Before && F.Value == After) // another thread has changed the field since
    return {llvm::formatv("byte {0:x} of the pool, in {1},", Said.Place, F.Name).str(), Said.Found,
            Said.Before, Said.After};
  return {F.Name, F.Value, Before, After};
}

std::string messageOf(const Values &V, bool IsChanged) {
  if (!IsChanged)
    return llvm::formatv(
               "after a crash {0} is {1:x}, but no transaction that was committing changes "
               "it: it has to be {2:x}",
               V.Name, V.Is, V.Before)
        .str();
  if (V.Is == V.Before && V.Is != V.After)
    return llvm::formatv("after a crash {0} is {1:x}, as before the transaction, while other bytes "
                         "are as after it: there it is {2:x}",
                         V.Name, V.Is, V.After)
        .str();
  if (V.Is == V.After && V.Is != V.Before)
    return llvm::formatv("after a crash {0} is {1:x}, as after the transaction, while other bytes "
                         "are as before it: there it is {2:x}",
                         V.Name, V.Is, V.Before)
        .str();
  return llvm::formatv("after a crash {0} is {1:x}; before the transaction it is {2:x}, after it "
                       "{3:x}",
                       V.Name, V.Is, V.Before, V.After)
      .str();
}

} // namespace

std::string fieldOfUnsafe(const Event &E) {
  uint64_t Numbers[3];
  if (E.Bytes.size() < sizeof Numbers)
    return "";
  std::memcpy(Numbers, E.Bytes.data(), sizeof Numbers);
  auto [Type, Members] = E.Bytes.drop_front(sizeof Numbers).split('\0');
  return memberName({Type, Members.rtrim('\0'), Numbers[2], Numbers[0], Numbers[1]}).Text;
}

void tellTorn(const Known &K, const Judgement &Said, const std::string &Image, size_t At,
              Finding &F) {
  Field There = fieldIn(Image, Said.Place);
  std::vector<const Transaction *> Who;
  for (size_t N : K.H.open())
    if (changes(K.H.transaction(N), Said.Place))
      Who.push_back(&K.H.transaction(N));
  F.Message = messageOf(valuesOf(K, Said, There, Who), Said.Before != Said.After);
  if (Who.empty())
    Who = lastTo(K, Said.Place, At);
  for (size_t I = 0; I < std::min(Who.size(), TransactionsNamed); ++I)
    addTransaction(K.T, *Who[I], I ? "the other" : "its", F);
}

void tellConflicts(const Known &K, Result &R) {
  std::vector<Finding *> Told;
  for (Finding &F : R.Findings)
    if (F.Kind == Unordered)
      Told.push_back(&F);
  if (Told.empty())
    return;
  llvm::sort(Told, [](const Finding *A, const Finding *B) { return A->Event < B->Event; });
  llvm::Expected<std::unique_ptr<Media>> M = Media::make(K.T);
  if (!M) {
    llvm::consumeError(M.takeError()); // the exploration itself says that there is no room
    return;
  }
  size_t At = 0;
  for (Finding *F : Told) {
    const Event &E = K.T.Events[F->Event];
    for (; At < F->Event; ++At)
      (*M)->storeFlat(K.T.Events[At], K.T.Apart);
    if (std::string Name = fieldIn((*M)->path(), E.Place).Name; !Name.empty())
      F->Message = Name + ": " + F->Message;
    if (const Transaction *Own = transactionOf(K, F->Event))
      addTransaction(K.T, *Own, "its", *F);
    if (const Transaction *Other = transactionOf(K, K.All.of(E.Place, F->Event).Event))
      addTransaction(K.T, *Other, "the other", *F);
  }
}

} // namespace nvmove::crash
