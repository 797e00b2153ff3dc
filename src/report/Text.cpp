// The result for a terminal: see Report.h.
#include "report/Report.h"
#include "report/Words.h"

#include "support/Diagnostics.h"
#include "support/Printable.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/WithColor.h"

#include <algorithm>

namespace nvmove::report {

namespace {

constexpr size_t FirstFew = 5; // Of skipped inputs and unresolved calls, unless verbose.

constexpr unsigned ConfidenceWidth = sizeof "CONFIDENCE  " - 1;

struct Row {
  std::string Type, Where, Size;
  Confidence Sureness;
  llvm::StringRef Run; ///< What it says; "": none was compared.
};

class TextReport {
public:
  TextReport(const ScanResult &Result, llvm::raw_ostream &OS, const TextOptions &Options)
      : Result(Result), OS(OS), Options(Options) {}

  void print();

private:
  void printTable();
  void printNoTypes();
  void printChain(const PersistentType &Type);
  void printSkipped();
  void printUnresolved();
  void printSummary();
  void bold(llvm::StringRef Text);
  void printConfidence(Confidence C);
  size_t shown(size_t Total) const { return Options.Verbose ? Total : std::min(Total, FirstFew); }

  const ScanResult &Result;
  llvm::raw_ostream &OS;
  const TextOptions &Options;
  support::SourceLines Sources;
};

std::string whereText(const SourcePlace &Place) {
  if (Place.File.empty())
    return "-";
  std::string Text = support::displayPath(Place.File);
  return Place.Line ? Text + ":" + std::to_string(Place.Line) : Text;
}

support::Place toPlace(const SourcePlace &Place) { return {Place.File, Place.Line, Place.Column}; }

void TextReport::bold(llvm::StringRef Text) {
  llvm::WithColor Bold(OS, llvm::raw_ostream::SAVEDCOLOR, /*Bold=*/true, /*BG=*/false,
                       Options.Color ? llvm::ColorMode::Enable : llvm::ColorMode::Disable);
  OS << Text;
}

void TextReport::printConfidence(Confidence C) {
  using llvm::raw_ostream;
  auto Color = C == Confidence::High     ? raw_ostream::GREEN
               : C == Confidence::Medium ? raw_ostream::YELLOW
                                         : raw_ostream::RED;
  llvm::WithColor(OS, Color, /*Bold=*/false, /*BG=*/false,
                  Options.Color ? llvm::ColorMode::Enable : llvm::ColorMode::Disable)
      << word(C);
}

void TextReport::printTable() {
  std::vector<Row> Rows;
  size_t TypeWidth = 4, WhereWidth = 10, SizeWidth = 5;
  for (const PersistentType &Type : Result.Types) {
    Row R{(Type.Union && Type.Name[0] != '(' ? "union " : "") + Type.Name,
          whereText(Type.Definition), std::to_string(Type.SizeBytes), Type.Sureness,
          Type.Run ? word(Type.Run->What) : ""};
    if (std::vector<std::string> Others = otherNames(Type); !Others.empty())
      R.Type += " (" + listed(Others) + ")";
    TypeWidth = std::max(TypeWidth, support::columns(R.Type));
    WhereWidth = std::max(WhereWidth, support::columns(R.Where));
    SizeWidth = std::max(SizeWidth, R.Size.size());
    Rows.push_back(std::move(R));
  }
  auto Pad = [this](size_t Width, llvm::StringRef Text) {
    OS << Text;
    size_t Columns = support::columns(Text);
    OS.indent(static_cast<unsigned>(Width > Columns ? Width - Columns : 0) + 2);
  };
  auto PadLeft = [this](size_t Width, llvm::StringRef Text) {
    OS.indent(static_cast<unsigned>(Width > Text.size() ? Width - Text.size() : 0));
    OS << Text << "  ";
  };
  OS << "  ";
  Pad(TypeWidth, "TYPE");
  Pad(WhereWidth, "DEFINED AT");
  PadLeft(SizeWidth, "BYTES");
  bool Compared = llvm::any_of(Rows, [](const Row &R) { return !R.Run.empty(); });
  OS << (Compared ? "CONFIDENCE  SOURCE AND RUN\n" : "CONFIDENCE\n");
  for (const Row &R : Rows) {
    OS << "  ";
    Pad(TypeWidth, R.Type);
    Pad(WhereWidth, R.Where);
    PadLeft(SizeWidth, R.Size);
    printConfidence(R.Sureness);
    if (Compared)
      OS.indent(ConfidenceWidth - word(R.Sureness).size()) << R.Run;
    OS << '\n';
  }
}

void TextReport::printNoTypes() {
  OS << "Nothing was found to stay in memory after " << listed(Result.Load) << ". What to try:\n"
     << "  * Is it the function that reads the file? Name the one that opens it or gets its "
        "handle.\n"
     << "  * Is every source file in the compile database? Skipped files and calls that could not\n"
     << "    be resolved are listed below.\n"
     << "  * --algorithm=nvmove lists every type that is assigned on the way, as an upper bound.\n";
}

void TextReport::printChain(const PersistentType &Type) {
  OS << '\n';
  printDiagnostic(OS, Options.Color, Sources, support::Severity::Remark, toPlace(Type.Definition),
                  "'" + fullName(Type) + "' is persistent (" + word(Type.Sureness) +
                      (Type.Why.empty() ? ")" : ": " + Type.Why + ")"));
  if (Type.Run)
    llvm::WithColor::note(OS, "", /*DisableColors=*/!Options.Color)
        << word(Type.Run->What) << ": " << Type.Run->Why << '\n';
  for (const EvidenceStep &Step : Type.Evidence)
    if (Step.Where.File.empty())
      llvm::WithColor::note(OS, "", /*DisableColors=*/!Options.Color) << Step.Text << '\n';
    else
      printDiagnostic(OS, Options.Color, Sources, support::Severity::Note, toPlace(Step.Where),
                      Step.Text);
}

void TextReport::printSkipped() {
  if (Result.Skipped.empty())
    return;
  OS << '\n';
  bold("Not analysed");
  OS << " (" << counted(Result.Skipped.size(), "input") << "):\n";
  size_t Shown = shown(Result.Skipped.size());
  for (size_t I = 0; I < Shown; ++I)
    OS << "  " << support::displayPath(Result.Skipped[I].File) << ": " << Result.Skipped[I].Why
       << '\n';
  if (Shown < Result.Skipped.size())
    OS << "  ... and " << Result.Skipped.size() - Shown << " more (-v lists all)\n";
}

void TextReport::printUnresolved() {
  if (Result.UnresolvedCalls.empty())
    return;
  OS << '\n';
  bold("Unresolved calls");
  OS << " (" << Result.UnresolvedCalls.size() << "), their targets took no part in the answer:\n";
  size_t Shown = shown(Result.UnresolvedCalls.size());
  for (size_t I = 0; I < Shown; ++I) {
    const UnresolvedCall &Call = Result.UnresolvedCalls[I];
    OS << "  " << whereText(Call.Where) << ": in '" << Call.Function << "': " << Call.Why << '\n';
  }
  if (Shown < Result.UnresolvedCalls.size())
    OS << "  ... and " << Result.UnresolvedCalls.size() - Shown << " more (-v lists all)\n";
}

void TextReport::printSummary() {
  const ScanStats &S = Result.Stats;
  OS << '\n'
     << counted(Result.Types.size(), "persistent type") << " of " << grouped(S.TypesTotal) << "; "
     << counted(S.TranslationUnits, "file") << " (" << grouped(S.FromCache) << " from cache), "
     << counted(S.Lines, "line") << "; " << grouped(S.FunctionsVisited) << " of "
     << counted(S.FunctionsTotal, "function") << " visited; "
     << llvm::format("%.2f s, %.0f MiB", S.Seconds,
                     static_cast<double>(S.PeakMemoryBytes) / (1024 * 1024))
     << '\n';
}

void TextReport::print() {
  bold(Result.Program.empty() ? "Scan" : Result.Program);
  OS << ": " << question(Result) << "\n\n";
  if (Result.Types.empty())
    printNoTypes();
  else
    printTable();
  if (Options.Chains)
    for (const PersistentType &Type : Result.Types)
      printChain(Type);
  printSkipped();
  printUnresolved();
  for (const std::string &Note : Result.Notes)
    OS << "\nnote: " << Note << '\n';
  printSummary();
}

} // namespace

void printText(const ScanResult &Result, llvm::raw_ostream &OS, const TextOptions &Options) {
  support::Printable Shown(OS);
  TextReport(Result, Shown, Options).print();
}

} // namespace nvmove::report
