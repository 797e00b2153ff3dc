// Following the links between stacks: see Fates.h.
#include "observe/Fates.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>

namespace nvmove::observe {
namespace {

class Judge {
public:
  Judge(const Observation &O, const std::vector<std::string> &Load, const std::set<unsigned> &Apart)
      : O(O), Load(Load), Apart(Apart) {
    Made.Of.resize(O.Stacks.size());
    From.resize(O.Stacks.size());
    for (const Link &L : O.Links)
      if (L.Kind == Link::Holder::Blocks)
        From[L.From].push_back(&L);
  }

  Fates run() {
    findLoaded();
    findWords();
    findData();
    count();
    return std::move(Made);
  }

private:
  /// All words of a member are one: it may be an array's.
  static Word wordOf(const Link &L) {
    return {L.Kind, L.Name, L.From, L.Kind == Link::Holder::Blocks ? L.Offset : 0};
  }

  bool isLoad(const Call &C) const { return llvm::is_contained(Load, C.Function); }

  void findLoaded() {
    for (size_t I = 0; I < O.Stacks.size(); ++I) {
      Made.Of[I].Loaded = llvm::any_of(O.Stacks[I].Calls, [&](const Call &C) { return isLoad(C); });
      Made.LoadRan |= Made.Of[I].Loaded && O.Stacks[I].Made;
    }
  }

  /// The first point that found something of the load.
  std::optional<uint64_t> pointBehindLoad() const {
    std::optional<uint64_t> First;
    for (const Link &L : O.Links)
      if (Made.Of[L.To].Loaded)
        First = std::min(First.value_or(L.Since), L.Since);
    return First ? behindLoad(*First) : First;
  }

  /// The load may wait for its input, too: such points lie within it. One that loads all the time has
  /// no point behind it.
  uint64_t behindLoad(uint64_t Point) const {
    uint64_t Behind = Point;
    for (bool Moved = true; Moved;) {
      Moved = false;
      for (size_t I = 0; I < O.Stacks.size(); ++I) {
        const Stack &S = O.Stacks[I];
        if (Made.Of[I].Loaded && S.WaitFirst && S.WaitFirst <= Behind && Behind <= S.WaitLast) {
          Behind = S.WaitLast + 1;
          Moved = true;
        }
      }
    }
    return Behind <= O.Points ? Behind : Point;
  }

  /// Whether a link was there at that point.
  static bool wasThere(const Link &L, std::optional<uint64_t> At) {
    return !At || (L.Since <= *At && *At <= L.Until);
  }

  /// Stacks that links lead to from \p Starts at the point \p Until, and none of \p Around's.
  std::vector<char> reach(const std::set<unsigned> &Starts, std::optional<uint64_t> Until,
                          const std::set<unsigned> &Around = {}) const {
    std::vector<char> Reached(O.Stacks.size());
    std::vector<unsigned> Work(Starts.begin(), Starts.end());
    for (unsigned Each : Work)
      Reached[Each] = 1;
    while (!Work.empty()) {
      unsigned At = Work.back();
      Work.pop_back();
      for (const Link *L : From[At])
        if (wasThere(*L, Until) && !Reached[L->To] && !Around.count(L->To)) {
          Reached[L->To] = 1;
          Work.push_back(L->To);
        }
    }
    return Reached;
  }

  bool leads(const std::vector<char> &Reached) const {
    for (size_t I = 0; I < Reached.size(); ++I)
      if (Reached[I] && Made.Of[I].Loaded)
        return true;
    return false;
  }

  void findWords() {
    std::optional<uint64_t> Until = pointBehindLoad();
    std::map<Word, std::set<unsigned>> Words;
    for (const Link &L : O.Links)
      if (L.Kind != Link::Holder::Blocks && (Load.empty() || (Until && wasThere(L, Until))))
        Words[wordOf(L)].insert(L.To);
    for (auto At = Words.begin(); At != Words.end();) {
      bool Leads =
          Load.empty() ? At->first.Kind == Link::Holder::Variable : leads(reach(At->second, Until));
      At = Leads ? std::next(At) : Words.erase(At);
    }
    if (!Load.empty())
      leaveIndirect(Words, Until);
    for (const auto &[W, Starts] : Words)
      Made.DataWords.push_back(W);
  }

  /// A word is indirect if each way from it to the data goes through what another word links to: a
  /// connection that knows the database. Those go first that link to fewest blocks of the load.
  void leaveIndirect(std::map<Word, std::set<unsigned>> &Words, std::optional<uint64_t> Until) {
    std::vector<std::pair<bool, Word>> Order;
    for (const auto &[W, Starts] : Words) {
      bool IsNear = llvm::any_of(Starts, [&](unsigned S) { return Made.Of[S].Loaded; });
      Order.emplace_back(IsNear, W);
    }
    llvm::sort(Order);
    for (const auto &[IsNear, W] : Order) {
      if (IsNear)
        break;
      std::set<unsigned> Around;
      for (const auto &[Other, Starts] : Words)
        if (!(Other.key() == W.key()))
          Around.insert(Starts.begin(), Starts.end());
      const std::set<unsigned> &Own = Words[W];
      for (unsigned Each : Own)
        Around.erase(Each);
      if (leads(reach(Own, Until, Around)))
        continue;
      Made.Indirect.push_back(W);
      Words.erase(W);
    }
  }

  bool isDataWord(const Link &L) const {
    return std::binary_search(Made.DataWords.begin(), Made.DataWords.end(), wordOf(L));
  }

  void findData() {
    std::set<unsigned> Starts;
    for (const Link &L : O.Links)
      if (L.Kind != Link::Holder::Blocks && isDataWord(L))
        Starts.insert(L.To);
    for (unsigned Each : Apart)
      Starts.erase(Each);
    std::vector<char> Reached = reach(Starts, std::nullopt, Apart);
    for (size_t I = 0; I < Reached.size(); ++I)
      Made.Of[I].OfData = Reached[I];
  }

  void count() {
    for (const Link &L : O.Links) {
      Fate &F = Made.Of[L.To];
      bool Data = L.Kind == Link::Holder::Blocks ? Made.Of[L.From].OfData : isDataWord(L);
      (Data ? F.FromData : F.Other) += L.Most;
      F.From[wordOf(L)] += L.Most;
    }
  }

  const Observation &O;
  const std::vector<std::string> &Load;
  const std::set<unsigned> &Apart;
  Fates Made;
  std::vector<std::vector<const Link *>> From; ///< By stack: the links of its blocks.
};

} // namespace

Fates judge(const Observation &O, const std::vector<std::string> &Load,
            const std::set<unsigned> &Apart) {
  return Judge(O, Load, Apart).run();
}

} // namespace nvmove::observe
