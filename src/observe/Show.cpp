// Tables of stacks by their fate: see Show.h.
#include "observe/Show.h"

#include "support/Diagnostics.h"
#include "support/Printable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <algorithm>

namespace nvmove::observe {
namespace {

constexpr size_t CallsMax = 5, HoldersMax = 4, OffsetsMax = 2, RowsMax = 40;
/// Of a function that calls malloc: then its callers tell more. So they do where its name says so.
constexpr size_t CallersMin = 3;

std::string counted(uint64_t Count, const char *What) {
  return std::to_string(Count) + " " + What + (Count == 1 ? "" : "s");
}

/// Stacks that look alike: their calls differ where none is shown.
struct Row {
  std::string Chain;
  uint64_t Made = 0, Linked = 0, Freed = 0, Least = 0, Most = 0;
  /// Links by holder, variables before blocks, and by offset.
  std::map<std::pair<bool, std::string>, std::map<uint64_t, uint64_t>> From;

  auto order() const { return std::tie(Linked, Made); }
};

class Printer {
public:
  Printer(llvm::raw_ostream &OS, const Observation &O, const Fates &F, bool All)
      : OS(OS), O(O), F(F), All(All) {
    std::map<std::string, std::set<std::string>> Callers;
    for (const Stack &S : O.Stacks)
      if (S.Made && S.Calls.size() > 1 && S.Calls[0].Function != S.Calls[1].Function)
        Callers[S.Calls[0].Function].insert(S.Calls[1].Function);
    for (const auto &[Name, Of] : Callers)
      if (Of.size() >= CallersMin || llvm::StringRef(Name).contains_insensitive("alloc"))
        Wrappers.insert(Name);
  }

  void heading(const std::vector<std::string> &Load) {
    uint64_t Made = 0, Chains = 0;
    for (const Stack &S : O.Stacks) {
      Made += S.Made;
      Chains += S.Made != 0;
    }
    OS << support::printable(llvm::sys::path::filename(O.Program)) << ": "
       << counted(O.Runs, "run");
    if (O.Killed)
      OS << " (" << O.Killed << " killed)";
    OS << ", " << counted(O.Points, "point") << ", " << counted(Made, "allocation") << " by "
       << counted(Chains, "chain") << " of calls\n";
    if (Load.empty())
      return;
    OS << "\nVariables that led to what " << llvm::join(Load, ", ") << " made, after the load:\n";
    std::set<std::string> Names;
    for (const Word &W : F.DataWords)
      Names.insert(holderOf(W));
    for (const std::string &Name : Names)
      OS << "  " << Name << "\n";
    if (Names.empty())
      OS << "  none\n";
    Names.clear();
    for (const Word &W : F.Indirect)
      Names.insert(holderOf(W));
    for (const std::string &Name : Names)
      OS << "  (" << Name << ", through one of these)\n";
  }

  void section(const char *Title, llvm::function_ref<bool(unsigned)> Takes) {
    std::vector<Row> Rows = rowsOf(Takes);
    if (Rows.empty())
      return;
    OS << "\n" << Title << ":\n";
    OS << "      made  linked   freed  bytes      allocated in\n";
    size_t Shown = All ? Rows.size() : std::min(Rows.size(), RowsMax);
    for (size_t I = 0; I < Shown; ++I)
      print(Rows[I]);
    if (Shown < Rows.size())
      OS << "  and " << Rows.size() - Shown << " more: --all\n";
  }

  /// What only libraries have allocated for themselves.
  void rest() {
    uint64_t Made = 0;
    for (const Stack &S : O.Stacks)
      Made += isOfProgram(S) ? 0 : S.Made;
    if (Made)
      OS << "\n" << counted(Made, "allocation") << " by code without debug information\n";
  }

private:
  static bool isOfProgram(const Stack &S) {
    return S.Made && llvm::any_of(S.Calls, [](const Call &C) { return !C.File.empty(); });
  }

  std::string holderOf(const Word &W) const {
    switch (W.Kind) {
    case Link::Holder::Variable:
      return support::printable(W.Name);
    case Link::Holder::Blocks:
      return "blocks of " + placeOf(O.Stacks[W.From]);
    case Link::Holder::Frame:
      return "a local variable of " + support::printable(W.Name);
    }
    return "";
  }

  std::vector<Row> rowsOf(llvm::function_ref<bool(unsigned)> Takes) const {
    std::map<std::string, Row> ByChain;
    for (unsigned I = 0; I < O.Stacks.size(); ++I) {
      const Stack &S = O.Stacks[I];
      if (!Takes(I) || !isOfProgram(S))
        continue;
      std::string Chain = chainOf(S);
      Row &R = ByChain[Chain];
      R.Least = R.Made ? std::min(R.Least, S.SizeLeast) : S.SizeLeast;
      R.Most = std::max(R.Most, S.SizeMost);
      R.Chain = Chain;
      R.Made += S.Made;
      R.Linked += S.LinkedMost;
      R.Freed += S.FreedEarly + S.FreedUnlinked + S.FreedLinked;
      for (const auto &[W, Most] : F.Of[I].From)
        R.From[{W.Kind == Link::Holder::Blocks, holderOf(W)}][W.Offset] += Most;
    }
    std::vector<Row> Rows;
    for (auto &[Chain, R] : ByChain)
      Rows.push_back(std::move(R));
    llvm::sort(Rows, [](const Row &A, const Row &B) {
      return A.order() != B.order() ? B.order() < A.order() : A.Chain < B.Chain;
    });
    return Rows;
  }

  /// The chain, the innermost call first, with the line of the first that is no wrapper's.
  std::string chainOf(const Stack &S) const {
    std::string Chain;
    size_t Shown = 0;
    for (size_t I = 0; I < S.Calls.size() && Shown < CallsMax; ++I) {
      const Call &C = S.Calls[I];
      bool HasNext = I + 1 < S.Calls.size();
      if (HasNext && C.File.empty())
        continue;
      Chain += (Chain.empty() ? "" : " < ") + C.Function;
      if (HasNext && !Shown && Wrappers.count(C.Function))
        continue;
      if (!Shown && !C.File.empty())
        Chain += (" (" + llvm::sys::path::filename(C.File) + ":" + llvm::Twine(C.Line) + ")").str();
      ++Shown;
      if (C.Function == "main")
        break;
    }
    return support::printable(Chain);
  }

  std::string placeOf(const Stack &S) const {
    for (const Call &C : S.Calls)
      if (!Wrappers.count(C.Function) && !C.File.empty())
        return support::printable(C.Function);
    return "a library";
  }

  /// The holders with most links first; an array has too many offsets to name them.
  static std::string fromOf(const Row &R) {
    std::vector<std::tuple<uint64_t, size_t, std::string>> Names; // the fewer the later
    for (const auto &[Holder, Offsets] : R.From) {
      uint64_t Links = 0;
      std::vector<std::string> At;
      for (const auto &[Offset, Most] : Offsets) {
        Links += Most;
        At.push_back(Holder.second + (Offset ? "+" + std::to_string(Offset) : ""));
      }
      Names.emplace_back(~Links, Names.size(),
                         At.size() > OffsetsMax ? Holder.second : llvm::join(At, ", "));
    }
    llvm::sort(Names);
    std::string Text;
    for (size_t I = 0; I < Names.size() && I < HoldersMax; ++I)
      Text += (I ? ", " : "") + std::get<std::string>(Names[I]);
    return Names.size() > HoldersMax
               ? Text + " and " + std::to_string(Names.size() - HoldersMax) + " more"
               : Text;
  }

  void print(const Row &R) {
    std::string Sizes = std::to_string(R.Least);
    if (R.Least != R.Most)
      Sizes += ".." + std::to_string(R.Most);
    OS << llvm::right_justify(std::to_string(R.Made), 10) << " "
       << llvm::right_justify(std::to_string(R.Linked), 7) << " "
       << llvm::right_justify(std::to_string(R.Freed), 7) << "  " << llvm::left_justify(Sizes, 9)
       << "  " << R.Chain << "\n";
    if (!R.From.empty())
      OS << "                                         linked from " << fromOf(R) << "\n";
  }

  llvm::raw_ostream &OS;
  const Observation &O;
  const Fates &F;
  bool All;
  std::set<std::string> Wrappers;
};

} // namespace

void show(llvm::raw_ostream &OS, const Observation &O, const Fates &F,
          const std::vector<std::string> &Load, bool All) {
  Printer P(OS, O, F, All);
  P.heading(Load);
  auto Links = [&](unsigned I) { return O.Stacks[I].LinkedMost > 0; };
  P.section(Load.empty() ? "Linked from variables" : "Of the data",
            [&](unsigned I) { return F.Of[I].OfData; });
  P.section("Linked from other variables", [&](unsigned I) { return !F.Of[I].OfData && Links(I); });
  auto Passes = [&](unsigned I) { return !F.Of[I].OfData && !Links(I); };
  auto Met = [&](unsigned I) { return O.Stacks[I].FreedEarly != O.Stacks[I].Made; };
  P.section("Linked from local variables, or not at all",
            [&](unsigned I) { return Passes(I) && Met(I); });
  if (All)
    P.section("Freed before any point", [&](unsigned I) { return Passes(I) && !Met(I); });
  P.rest();
}

} // namespace nvmove::observe
