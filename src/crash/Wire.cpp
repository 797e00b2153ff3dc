// Bytes between processes: see Wire.h.
#include "crash/Wire.h"

#include <cstring>
#include <tuple>
#include <type_traits>

namespace nvmove::crash {
namespace {

class Writer {
public:
  template <typename T> void put(const T &Value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Out.append(reinterpret_cast<const char *>(&Value), sizeof Value);
  }
  void put(const std::string &Text) {
    put(Text.size());
    Out += Text;
  }

  std::string Out;
};

class Reader {
public:
  explicit Reader(llvm::StringRef In) : In(In) {}

  template <typename T> void get(T &Value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (In.size() < sizeof Value) {
      Bad = true;
      return;
    }
    std::memcpy(&Value, In.data(), sizeof Value);
    In = In.drop_front(sizeof Value);
  }
  void get(std::string &Text) {
    size_t Size = 0;
    get(Size);
    Bad |= Size > In.size();
    Text = In.take_front(Bad ? 0 : Size).str();
    In = In.drop_front(Text.size());
  }
  bool isWhole() const { return !Bad && In.empty(); }
  bool isBad() const { return Bad; }

private:
  llvm::StringRef In;
  bool Bad = false;
};

/// The calls that led there are named when all is found.
template <typename F> auto partsOf(F &Each) {
  return std::tie(Each.Kind, Each.Message, Each.State, Each.Key, Each.Where, Each.Count, Each.Event,
                  Each.IsWarning, Each.Point, Each.Number);
}

template <typename R> auto countsOf(R &Each) {
  return std::tie(Each.States, Each.Distinct, Each.Epochs, Each.Sampled, Each.Skipped,
                  Each.FailurePoints, Each.Omitted, Each.Unexplored, Each.Recoveries, Each.Refused,
                  Each.Lost, Each.CommandFails, Each.StoppedAt, Each.Looks, Each.TimeUp, Each.Hangs,
                  Each.Possible);
}

void put(Writer &W, const Finding &F) {
  std::apply([&](const auto &...Each) { (W.put(Each), ...); }, partsOf(F));
  W.put(F.Notes.size());
  for (const auto &[Where, Text] : F.Notes) {
    W.put(Where);
    W.put(Text);
  }
  W.put(F.Others.size());
  for (const OtherCalls &Each : F.Others)
    W.put(Each);
}

void get(Reader &From, Finding &F) {
  std::apply([&](auto &...Each) { (From.get(Each), ...); }, partsOf(F));
  size_t Notes = 0;
  for (From.get(Notes); Notes && !From.isBad(); --Notes) {
    F.Notes.emplace_back();
    From.get(F.Notes.back().first);
    From.get(F.Notes.back().second);
  }
  size_t Others = 0;
  for (From.get(Others); Others && !From.isBad(); --Others)
    From.get(F.Others.emplace_back());
}

} // namespace

std::string packed(const Finding &F) {
  Writer W;
  put(W, F);
  return W.Out;
}

std::string packed(const Result &R) {
  Writer W;
  std::apply([&](const auto &...Each) { (W.put(Each), ...); }, countsOf(R));
  W.put(R.NotDone.size());
  for (const std::string &Text : R.NotDone)
    W.put(Text);
  W.put(R.Findings.size());
  for (const Finding &F : R.Findings)
    put(W, F);
  return W.Out;
}

std::optional<Finding> unpackedFinding(llvm::StringRef Bytes) {
  Reader From(Bytes);
  Finding F;
  get(From, F);
  return From.isWhole() ? std::optional(std::move(F)) : std::nullopt;
}

std::optional<Result> unpackedResult(llvm::StringRef Bytes) {
  Reader From(Bytes);
  Result R;
  size_t Count = 0;
  std::apply([&](auto &...Each) { (From.get(Each), ...); }, countsOf(R));
  for (From.get(Count); Count && !From.isBad(); --Count)
    From.get(R.NotDone.emplace_back());
  for (From.get(Count); Count && !From.isBad(); --Count)
    get(From, R.Findings.emplace_back());
  return From.isWhole() ? std::optional(std::move(R)) : std::nullopt;
}

} // namespace nvmove::crash
