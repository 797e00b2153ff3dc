// Tells what came of the kills: see Report.h.
#include "move/Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <algorithm>

namespace nvmove::move {

namespace {

constexpr size_t LinesShown = 12; ///< of what differs
constexpr double Milli = 1000;

double median(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  return Values.empty() ? 0 : Values[Values.size() / 2];
}

/// The lines of \p Expected (-) and \p Got (+) from the first one that differs.
void printDifference(llvm::raw_ostream &OS, llvm::StringRef Expected, llvm::StringRef Got) {
  auto Split = [](llvm::StringRef Text) {
    llvm::SmallVector<llvm::StringRef> Lines;
    Text.split(Lines, '\n', -1, /*KeepEmpty=*/true);
    if (!Lines.empty() && Lines.back().empty())
      Lines.pop_back();
    return Lines;
  };
  auto Right = Split(Expected), Wrong = Split(Got);
  size_t Same = 0;
  while (Same < Right.size() && Same < Wrong.size() && Right[Same] == Wrong[Same])
    ++Same;
  if (Same)
    OS << "      " << Same << (Same == 1 ? " line is" : " lines are") << " the same, then\n";
  auto Print = [&](const auto &Lines, char Sign) {
    for (size_t I = Same; I < Lines.size() && I < Same + LinesShown; ++I)
      OS << "    " << Sign << ' ' << Lines[I] << '\n';
    if (Lines.size() > Same + LinesShown)
      OS << "    " << Sign << " ... (" << Lines.size() - Same - LinesShown << " more)\n";
  };
  Print(Right, '-');
  Print(Wrong, '+');
}

void printLost(llvm::raw_ostream &OS, llvm::StringRef Method, const Difference &D) {
  OS << Method << ": " << D.When << ": " << D.What << '\n';
  OS << "    - what is right, + what was found\n";
  printDifference(OS, D.Expected, D.Got);
  for (const auto &[Title, Text] : {std::pair("its standard error", &D.Said),
                                    std::pair("with NVMOVE_DEBUG=roots it says", &D.Roots)})
    if (!Text->empty())
      OS << "  " << Title << ":\n    " << llvm::join(llvm::split(*Text, '\n'), "\n    ") << '\n';
}

void printJson(llvm::json::OStream &J, llvm::StringRef Name, const Difference &D) {
  J.attributeObject(Name, [&] {
    J.attribute("when", llvm::json::fixUTF8(D.When));
    J.attribute("what", D.What);
    J.attribute("expected", llvm::json::fixUTF8(D.Expected));
    J.attribute("got", llvm::json::fixUTF8(D.Got));
    J.attribute("stderr", llvm::json::fixUTF8(D.Said));
    J.attribute("debug_roots", llvm::json::fixUTF8(D.Roots));
  });
}

bool onlyEndsDiffer(const Verdict &V) {
  return !V.isGood() && llvm::none_of(V.Methods, [](auto &M) { return M.Lost.has_value(); });
}

} // namespace

void printVerdict(llvm::raw_ostream &OS, const Verdict &V) {
  for (const MethodResult &M : V.Methods)
    for (const auto *D : {&M.AfterEnd, &M.Lost})
      if (*D)
        printLost(OS, M.Method, **D);
  OS << (V.isGood() ? "survived: " : "not survived: ");
  for (const MethodResult &M : V.Methods)
    OS << (&M == V.Methods.data() ? "" : ", ") << M.Survived << " kills with " << M.Method
       << (M.Lost ? ", then the difference above" : "");
  OS << '\n';
  if (onlyEndsDiffer(V))
    OS << "  the kills lost nothing; is it right that the program's own end changes its data "
          "(--any-end)?\n";
  if (V.isGood()) {
    OS << "  the unchanged program "
       << (V.PlainLoses ? "loses data when it is killed\n"
                        : "keeps its data as well when it is killed: it saves them itself\n");
    if (!V.PlainStarts.empty())
      OS << llvm::format("  a start takes %.0f ms, and %.0f ms in the unchanged program\n",
                         Milli * median(V.Methods.front().Starts), Milli * median(V.PlainStarts));
  }
  for (const std::string &Note : V.Notes)
    OS << "  note: " << Note << '\n';
}

void printVerdictJson(llvm::raw_ostream &OS, const Verdict &V) {
  llvm::json::OStream J(OS, 2);
  J.object([&] {
    J.attribute("survived", V.isGood());
    J.attribute("kills", V.kills());
    J.attribute("unchanged_program_loses", V.PlainLoses);
    J.attribute("unchanged_start_seconds", median(V.PlainStarts));
    J.attributeArray("methods", [&] {
      for (const MethodResult &M : V.Methods)
        J.object([&] {
          J.attribute("method", M.Method);
          J.attribute("kills", M.Survived);
          J.attribute("inside_library", M.Inside);
          J.attribute("in_recovery", M.InRecovery);
          J.attribute("start_seconds", median(M.Starts));
          if (M.Lost)
            printJson(J, "difference", *M.Lost);
          if (M.AfterEnd)
            printJson(J, "after_regular_end", *M.AfterEnd);
        });
    });
    J.attributeArray("notes", [&] {
      for (const std::string &Note : V.Notes)
        J.value(Note);
    });
  });
  OS << '\n';
}

} // namespace nvmove::move
