// The result as one self-contained HTML page: see Report.h.
#include "report/HtmlAssets.h"
#include "report/Report.h"
#include "report/Words.h"

#include "support/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

namespace nvmove::report {

namespace {

constexpr unsigned ContextLines = 2; // On each side of the line a step points at.

class HtmlReport {
public:
  HtmlReport(const ScanResult &Result, llvm::raw_ostream &OS) : Result(Result), OS(OS) {}

  void print();

private:
  void printStats();
  void printTypes();
  void printType(const PersistentType &Type);
  void printSnippet(const SourcePlace &Place);
  void printLists();
  void text(llvm::StringRef Text) {
    // The page says it is UTF-8, so it has to be.
    llvm::printHTMLEscaped(llvm::json::fixUTF8(Text), OS);
  }
  void element(llvm::StringRef Tag, llvm::StringRef Class, llvm::StringRef Text);
  void place(const SourcePlace &Place);
  void tile(const llvm::Twine &Value, llvm::StringRef Label);

  const ScanResult &Result;
  llvm::raw_ostream &OS;
  support::SourceLines Sources;
};

std::string placeText(const SourcePlace &Place) {
  std::string Text = support::displayPath(Place.File);
  return Place.Line ? Text + ":" + std::to_string(Place.Line) : Text;
}

void HtmlReport::element(llvm::StringRef Tag, llvm::StringRef Class, llvm::StringRef Text) {
  OS << '<' << Tag;
  if (!Class.empty())
    OS << " class=\"" << Class << '"';
  OS << '>';
  text(Text);
  OS << "</" << Tag << '>';
}

void HtmlReport::place(const SourcePlace &Place) { element("span", "place", placeText(Place)); }

void HtmlReport::tile(const llvm::Twine &Value, llvm::StringRef Label) {
  OS << "<div>";
  element("b", "", Value.str());
  element("span", "", Label);
  OS << "</div>\n";
}

void HtmlReport::printStats() {
  const ScanStats &S = Result.Stats;
  std::string Seconds, Memory;
  llvm::raw_string_ostream(Seconds) << llvm::format("%.2f s", S.Seconds);
  llvm::raw_string_ostream(Memory)
      << llvm::format("%.0f MiB", static_cast<double>(S.PeakMemoryBytes) / (1024 * 1024));
  OS << "<div class=\"stats\">\n";
  tile(grouped(Result.Types.size()) + " of " + grouped(S.TypesTotal), "types are persistent");
  tile(grouped(S.FunctionsVisited) + " of " + grouped(S.FunctionsTotal), "functions visited");
  tile(grouped(S.TranslationUnits), "files, " + grouped(S.FromCache) + " from the cache");
  tile(grouped(S.Lines), "lines");
  tile(grouped(Result.UnresolvedCalls.size()), "unresolved calls");
  tile(grouped(Result.Skipped.size()), "inputs not analysed");
  tile(Seconds, "time");
  tile(Memory, "peak memory");
  OS << "</div>\n";
}

void HtmlReport::printSnippet(const SourcePlace &Place) {
  if (!Place.Line || !Sources.line(Place.File, Place.Line))
    return;
  OS << "<pre>";
  unsigned First = Place.Line > ContextLines ? Place.Line - ContextLines : 1;
  for (unsigned Number = First; Number <= Place.Line + ContextLines; ++Number) {
    std::optional<llvm::StringRef> Line = Sources.line(Place.File, Number);
    if (!Line)
      break;
    unsigned Caret = 0;
    bool Hit = Number == Place.Line;
    std::string Window = support::sourceWindow(Line->rtrim("\r\n"), Hit ? Place.Column : 0, Caret);
    OS << (Hit ? "<span class=\"hit\">" : "") << "<span class=\"n\">"
       << llvm::format("%6u  ", Number) << "</span>";
    text(Window);
    OS << (Hit ? "</span>\n" : "\n");
  }
  OS << "</pre>";
}

void HtmlReport::printType(const PersistentType &Type) {
  std::string Others = listed(otherNames(Type));
  OS << "<details class=\"type\" data-text=\"";
  text(Type.Name + " " + Others + " " + placeText(Type.Definition) +
       (Type.Run ? " " + word(Type.Run->What).str() : ""));
  OS << "\"><summary class=\"row\"><span class=\"name\">";
  text((Type.Union && Type.Name[0] != '(' ? "union " : "") + Type.Name);
  if (!Others.empty()) {
    OS << ' ';
    element("span", "alias", "(" + Others + ")");
  }
  OS << "</span>";
  place(Type.Definition);
  element("span", "number", grouped(Type.SizeBytes));
  element("span", word(Type.Sureness), word(Type.Sureness));
  OS << "</summary>\n<div class=\"chain\">";
  if (!Type.Why.empty())
    element("p", "", Type.Why);
  if (Type.Run)
    element("p", "", (word(Type.Run->What) + ": " + Type.Run->Why).str());
  printSnippet(Type.Definition);
  if (!Type.Evidence.empty())
    OS << "<p></p><ol>\n";
  for (const EvidenceStep &Step : Type.Evidence) {
    OS << "<li>";
    element("span", "kind", word(Step.What));
    text(Step.Text);
    OS << ' ';
    place(Step.Where);
    printSnippet(Step.Where);
    OS << "</li>\n";
  }
  OS << (Type.Evidence.empty() ? "" : "</ol>") << "</div></details>\n";
}

void HtmlReport::printTypes() {
  if (Result.Types.empty()) {
    element("p", "", "No type was found to stay in memory.");
    return;
  }
  OS << "<div class=\"tools\"><input id=\"filter\" type=\"search\" placeholder=\"Filter by name or"
        " file\" aria-label=\"Filter types\"><button id=\"all\">Open all</button></div>\n"
        "<div class=\"head row\"><span></span><span>Type</span><span>Defined at</span>"
        "<span class=\"number\">Bytes</span><span>Confidence</span></div>\n";
  for (const PersistentType &Type : Result.Types)
    printType(Type);
}

void HtmlReport::printLists() {
  if (!Result.Skipped.empty()) {
    OS << "<h2>Not analysed</h2>\n<table><tr><th>Input</th><th>Why</th></tr>\n";
    for (const SkippedInput &Input : Result.Skipped) {
      OS << "<tr>";
      element("td", "place", support::displayPath(Input.File));
      element("td", "", Input.Why);
      OS << "</tr>\n";
    }
    OS << "</table>\n";
  }
  if (!Result.UnresolvedCalls.empty()) {
    OS << "<h2>Unresolved calls</h2>\n"
          "<p>Their targets took no part in the answer.</p>\n"
          "<table><tr><th>Call</th><th>In</th><th>Why</th></tr>\n";
    for (const UnresolvedCall &Call : Result.UnresolvedCalls) {
      OS << "<tr>";
      element("td", "place", placeText(Call.Where));
      element("td", "place", Call.Function);
      element("td", "", Call.Why);
      OS << "</tr>\n";
    }
    OS << "</table>\n";
  }
  if (!Result.Notes.empty()) {
    OS << "<h2>Limits of this answer</h2>\n<ul>\n";
    for (const std::string &Note : Result.Notes)
      element("li", "", Note);
    OS << "</ul>\n";
  }
}

void HtmlReport::print() {
  OS << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  text("nvmove scan: " + Result.Program);
  OS << "</title>\n<style>" << StyleSheet << "</style></head>\n<body>\n";
  element("h1", "", Result.Program.empty() ? "Scan" : Result.Program);
  OS << '\n';
  element("p", "question", "nvmove scan: " + question(Result));
  OS << '\n';
  printStats();
  printTypes();
  printLists();
  if (!Result.Types.empty())
    OS << "<script>" << Script << "</script>\n";
  OS << "</body></html>\n";
}

} // namespace

void printHtml(const ScanResult &Result, llvm::raw_ostream &OS) { HtmlReport(Result, OS).print(); }

} // namespace nvmove::report
