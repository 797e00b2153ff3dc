// Nodes that copies lead around in a circle hold the same: they become one. See PointsTo.h.
//
// Only where all of a program is visited: there the circles are large, through lists that every part of
// it uses. A load's zone is too small to gain from it.
#include "solve/pointsto/PointsTo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nvmove::solve {

namespace {

/// Tarjan's algorithm, without recursion, over nodes 0 .. Count - 1.
template <typename EdgesOf, typename Take> void eachCircle(NodeId Count, EdgesOf Edges, Take Do) {
  constexpr uint32_t Unseen = 0;
  struct Frame {
    NodeId At;
    size_t Edge;
  };
  std::vector<uint32_t> Index(Count, Unseen), Low(Count);
  std::vector<bool> Open(Count);
  std::vector<NodeId> Path;
  std::vector<Frame> Frames;
  uint32_t Next = 1;
  auto Enter = [&](NodeId N) {
    Index[N] = Low[N] = Next++;
    Open[N] = true;
    Path.push_back(N);
    Frames.push_back({N, 0});
  };
  for (NodeId Start = 0; Start != Count; ++Start) {
    if (Index[Start] != Unseen)
      continue;
    Enter(Start);
    while (!Frames.empty()) {
      NodeId At = Frames.back().At;
      llvm::ArrayRef<NodeId> To = Edges(At);
      if (Frames.back().Edge != To.size()) {
        NodeId Target = To[Frames.back().Edge++];
        if (Index[Target] == Unseen)
          Enter(Target);
        else if (Open[Target])
          Low[At] = std::min(Low[At], Index[Target]);
        continue;
      }
      Frames.pop_back();
      if (!Frames.empty())
        Low[Frames.back().At] = std::min(Low[Frames.back().At], Low[At]);
      if (Low[At] != Index[At])
        continue;
      llvm::SmallVector<NodeId> Circle;
      do {
        Circle.push_back(Path.back());
        Open[Path.back()] = false;
        Path.pop_back();
      } while (Circle.back() != At);
      if (Circle.size() > 1)
        Do(Circle);
    }
  }
}

} // namespace

/// What one of the circle has seen, the rules and edges of the others may not: they are told.
void PointsTo::unite(llvm::ArrayRef<NodeId> Circle, std::vector<Untold> &Later) {
  NodeId Root = Circle.front();
  llvm::SparseBitVector<> All;
  for (NodeId Each : Circle)
    All |= Nodes[Each].Set;
  std::vector<Waiting> Rules;
  llvm::SmallVector<NodeId, 2> Edges;
  for (NodeId Each : Circle) {
    Node &N = Nodes[Each];
    llvm::SparseBitVector<> Missing = All;
    Missing.intersectWithComplement(N.Set);
    Missing |= N.Delta;
    if (!Missing.empty())
      Later.push_back({N.Rules, {N.Edges.begin(), N.Edges.end()}, Missing});
    Rules.insert(Rules.end(), N.Rules.begin(), N.Rules.end());
    Edges.append(N.Edges.begin(), N.Edges.end());
    Same[Each] = Root;
    if (Each != Root)
      N = Node();
  }
  Node &N = Nodes[Root];
  N.Set = std::move(All);
  N.Delta.clear();
  N.Rules = std::move(Rules);
  N.Edges = std::move(Edges);
}

void PointsTo::collapse() {
  NodeId Count = static_cast<NodeId>(Nodes.size());
  for (NodeId N = static_cast<NodeId>(Same.size()); N != Count; ++N)
    Same.push_back(N);
  std::vector<llvm::SmallVector<NodeId, 2>> Edges(Count);
  for (NodeId N = 0; N != Count; ++N)
    if (!Nodes[N].Number) // What a number passes on is less than what it is given.
      for (NodeId To : Nodes[N].Edges)
        if (NodeId Target = same(To); Target != N && !Nodes[Target].Number)
          Edges[N].push_back(Target);
  std::vector<Untold> Later;
  eachCircle(
      Count, [&](NodeId N) { return llvm::ArrayRef<NodeId>(Edges[N]); },
      [&](llvm::ArrayRef<NodeId> Circle) { unite(Circle, Later); });
  for (NodeId &Each : Same) // One united before may be a part of a larger one now.
    Each = Same[Each];
  for (NodeId N = 0; N != Count; ++N) {
    auto &To = Nodes[N].Edges;
    for (NodeId &Each : To)
      Each = same(Each);
    llvm::sort(To);
    To.erase(std::unique(To.begin(), To.end()), To.end());
    llvm::erase(To, N);
  }
  for (const Untold &Each : Later) {
    for (NodeId To : Each.Edges)
      flow(Each.What, To);
    for (LocationId What : Each.What)
      for (const Waiting &R : Each.Rules)
        apply(R, What);
  }
}

} // namespace nvmove::solve
