// Lives of a program with each method: see Trial.h.
#include "move/Trial.h"

#include "move/Activity.h"
#include "move/Life.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::move {

namespace {

/// Lives until there were enough kills. One that brings none is the last.
llvm::Error tryMethod(const Settings &S, const Reference &Known, unsigned Kills,
                      MethodResult &Made) {
  uint64_t Seed = S.Seed;
  if (llvm::Error E = Life(S, Known, Made, Seed).runToEnd())
    return E;
  if (S.AnyEnd)
    Made.AfterEnd.reset();
  for (bool Inside = true; !Made.Lost && Made.Survived < Kills; Inside = !Inside) {
    unsigned Before = Made.Survived, Left = Kills - Before;
    Life Next(S, Known, Made, ++Seed);
    if (llvm::Error E = Inside ? Next.runKilledInside(Left) : Next.runKilled(Left))
      return E;
    if (!Inside && Made.Survived == Before)
      break;
  }
  if (Made.Lost)
    return Life(S, Known, Made, Seed).lookForRoots(Made.Lost->Roots);
  return llvm::Error::success();
}

} // namespace

bool Verdict::isGood() const {
  return llvm::none_of(Methods, [](const MethodResult &M) { return M.Lost || M.AfterEnd; });
}

unsigned Verdict::kills() const {
  unsigned All = 0;
  for (const MethodResult &M : Methods)
    All += M.Survived;
  return All;
}

llvm::Expected<Verdict> tryProgram(const Settings &S) {
  adoptOrphans();
  Verdict Made;
  S.Tell("runs the unchanged program");
  llvm::Expected<Reference> Known = makeReference(S, Made);
  if (!Known)
    return Known.takeError();
  for (size_t I = 0; I < S.Methods.size(); ++I) {
    MethodResult &Own = Made.Methods.emplace_back();
    Own.Method = S.Methods[I];
    unsigned Kills = (S.Kills + static_cast<unsigned>(I)) / static_cast<unsigned>(S.Methods.size());
    if (llvm::Error E = tryMethod(S, *Known, Kills, Own))
      return std::move(E);
  }
  return Made;
}

} // namespace nvmove::move
