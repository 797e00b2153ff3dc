// See Regions.h.
#include "plan/Regions.h"

namespace nvmove::plan {

using facts::Instruction;
using facts::Op;
using facts::RegionKind;

namespace {

unsigned depthOf(const facts::Function &Body, uint32_t At) {
  unsigned Depth = 0;
  for (; At != 0; At = Body.Regions[At].Parent)
    ++Depth;
  return Depth;
}

} // namespace

uint32_t innermostLoop(const facts::Function &Body, uint32_t At) {
  while (At != 0 && Body.Regions[At].Kind != RegionKind::Loop)
    At = Body.Regions[At].Parent;
  return At;
}

bool mayBothRun(const facts::Function &Body, uint32_t A, uint32_t B) {
  unsigned Left = depthOf(Body, A), Right = depthOf(Body, B);
  for (; Left > Right; --Left)
    if (Body.Regions[A].Parent == B)
      return true;
    else
      A = Body.Regions[A].Parent;
  for (; Right > Left; --Right)
    if (Body.Regions[B].Parent == A)
      return true;
    else
      B = Body.Regions[B].Parent;
  if (A == B)
    return true;
  while (Body.Regions[A].Parent != Body.Regions[B].Parent) {
    A = Body.Regions[A].Parent;
    B = Body.Regions[B].Parent;
  }
  return Body.Regions[A].Kind != RegionKind::Branch || Body.Regions[B].Kind != RegionKind::Branch;
}

bool isWithin(const facts::Function &Body, uint32_t At, uint32_t Outer) {
  while (At != 0 && At != Outer)
    At = Body.Regions[At].Parent;
  return At == Outer;
}

bool leavesBefore(const facts::Function &Body, const Instruction &First, const Instruction &Later) {
  for (const Instruction &I : Body.Body)
    if (I.Code == Op::Return && &I > &First && &I < &Later && I.Region != 0 &&
        isWithin(Body, First.Region, I.Region) && !isWithin(Body, Later.Region, I.Region))
      return true;
  return false;
}

} // namespace nvmove::plan
