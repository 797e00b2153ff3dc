// Circles of copies that become one node (src/solve/pointsto/Cycles.cpp): on random programs of copies, loads, stores
// and steps each node holds exactly what it holds without.
#include "FactsText.h"

#include "solve/pointsto/PointsTo.h"

#include <gtest/gtest.h>

#include <random>

using namespace nvmove;
using namespace nvmove::solve;

namespace {

constexpr unsigned NodeCount = 60, ObjectCount = 12, LineCount = 150;
constexpr uint64_t StepsMax = 100'000'000, Never = ~uint64_t(0);

/// Runs a random program; circles are looked for from \p After steps on.
class RandomRun {
public:
  RandomRun(const Program &P, unsigned Seed, uint64_t After) : Graph(P, StepsMax), Random(Seed) {
    Graph.setComplete(After);
    First = Graph.makeNodes(NodeCount);
    for (unsigned I = 0; I != ObjectCount; ++I)
      Graph.makeObject(Object());
    for (NodeId N = 0; N < NodeCount; N += 7)
      Graph.restrictToNumbers(First + N);
    for (unsigned I = 0; I != LineCount; ++I) {
      line();
      if (pick(10) == 0)
        EXPECT_TRUE(Graph.run());
    }
    EXPECT_TRUE(Graph.run());
  }

  /// What each node and each cell holds, as text.
  std::string held() {
    std::string All;
    for (NodeId N = First; N != First + NodeCount; ++N)
      All += "\n" + std::to_string(N - First) + ":" + textOf(N);
    for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
      for (auto [Offset, Cell] : Graph.object(Id).Cells)
        All += "\n" + std::to_string(Id) + "+" + std::to_string(Offset) + ":" + textOf(Cell);
    return All;
  }

private:
  unsigned pick(unsigned Count) {
    return std::uniform_int_distribution<unsigned>(0, Count - 1)(Random);
  }
  NodeId node() { return First + pick(NodeCount); }

  void line() {
    Shape Pointer;
    Pointer.What = Core::Void;
    Pointer.Pointers = 1;
    NodeId A = node(), B = node();
    switch (pick(10)) {
    case 0:
    case 1:
      return Graph.add(A, Graph.location(2 + pick(ObjectCount), 8 * pick(3)));
    case 2:
      return Graph.addLoad(A, B, Pointer, 0, {});
    case 3:
      return Graph.addStore(A, B, Pointer, {});
    case 4:
      return Graph.addShift(
          A, B, AnyOffset); // Known steps are told apart in the order in which they come.
    case 5:
      return Graph.add(A, Graph.input());
    default:
      return Graph.addEdge(A, B);
    }
  }

  std::string textOf(NodeId N) {
    std::set<std::pair<ObjectId, int64_t>> Found;
    for (LocationId Each : Graph.pointees(N))
      Found.insert({Graph.at(Each).In, Graph.at(Each).Offset});
    std::string Text;
    for (auto [In, Offset] : Found)
      Text += " " + std::to_string(In) + "+" + std::to_string(Offset);
    return Text;
  }

  PointsTo Graph;
  std::mt19937 Random;
  NodeId First = 0;
};

TEST(PointsToCycles, EachNodeHoldsWhatItHoldsWithoutThem) {
  FactsText Facts("void f() { }");
  for (unsigned Seed = 1; Seed != 300; ++Seed) {
    std::string Without = RandomRun(Facts.program(), Seed, Never).held();
    EXPECT_EQ(RandomRun(Facts.program(), Seed, 1).held(), Without) << "seed " << Seed;
    EXPECT_EQ(RandomRun(Facts.program(), Seed, 50).held(), Without) << "seed " << Seed;
  }
}

} // namespace
