// See Suggestions.h.
#include "report/Suggestions.h"

#include "report/JsonText.h"
#include "support/Diagnostics.h"

#include "llvm/Support/Format.h"

#include <algorithm>

namespace nvmove::report {

namespace {

constexpr size_t TypesShown = 4;

std::string where(const SourcePlace &Place) {
  return support::displayPath(Place.File) + ":" + std::to_string(Place.Line);
}

std::string joined(const std::vector<std::string> &Words, size_t Max) {
  std::string Text;
  for (size_t I = 0; I != std::min(Words.size(), Max); ++I)
    Text += (I ? ", " : "") + Words[I];
  return Text + (Words.size() > Max ? ", ..." : "");
}

void printList(const std::vector<Suggestion> &Found, llvm::raw_ostream &OS) {
  size_t NameWidth = 0, WhereWidth = 0;
  for (const Suggestion &S : Found) {
    NameWidth = std::max(NameWidth, S.Name.size());
    WhereWidth = std::max(WhereWidth, where(S.Where).size());
  }
  for (const Suggestion &S : Found) {
    OS << "  " << llvm::left_justify(S.Name, static_cast<unsigned>(NameWidth)) << "  "
       << llvm::left_justify(where(S.Where), static_cast<unsigned>(WhereWidth)) << "  ";
    for (size_t I = 0; I != S.Reasons.size(); ++I)
      OS << (I ? "; " : "") << S.Reasons[I];
    if (!S.Types.empty())
      OS << " (" << joined(S.Types, TypesShown) << ")";
    OS << "\n";
  }
}

void printListJson(llvm::json::OStream &J, llvm::StringRef Key,
                   const std::vector<Suggestion> &Found) {
  J.attributeArray(Key, [&] {
    for (const Suggestion &S : Found)
      J.object([&] {
        J.attribute("name", clean(S.Name));
        J.attribute("file", clean(S.Where.File));
        J.attribute("line", S.Where.Line);
        J.attribute("points", S.Points);
        J.attributeArray("reasons", [&] {
          for (const std::string &Reason : S.Reasons)
            J.value(clean(Reason));
        });
        J.attributeArray("types", [&] {
          for (const std::string &Type : S.Types)
            J.value(clean(Type));
        });
      });
  });
}

} // namespace

void printSuggestionsText(const Suggestions &Found, llvm::raw_ostream &OS) {
  if (Found.Loads) {
    OS << "functions that may load the state, the best first:\n";
    printList(*Found.Loads, OS);
    if (Found.Loads->empty())
      OS << "  none: no function opens a file, or is given one, and reads it\n";
  }
  if (Found.Saves) {
    OS << "functions that may save the state, the best first:\n";
    printList(*Found.Saves, OS);
    if (Found.Saves->empty())
      OS << "  none: no function opens a file for writing, or is given one, and writes to it\n";
  }
}

void printSuggestionsJson(const Suggestions &Found, llvm::raw_ostream &OS) {
  llvm::json::OStream J(OS, Indent);
  J.object([&] {
    J.attribute("schema_version", SchemaVersion);
    if (Found.Loads)
      printListJson(J, "load", *Found.Loads);
    if (Found.Saves)
      printListJson(J, "save", *Found.Saves);
  });
  OS << "\n";
}

} // namespace nvmove::report
