// What a link says about undefined symbols: see Undefined.h.
#include "Undefined.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

namespace nvmove::driver {
namespace {

namespace fs = std::filesystem;

/// A word that the linker gets: of which argument, and what of it.
struct Word {
  size_t Argument;
  std::string Text;
};

bool startsWith(const std::string &Text, std::string_view With) { return Text.rfind(With, 0) == 0; }

/// In the linker's order. `-z` and `-Xlinker` have their value in the next argument.
std::vector<Word> linkerWords(const std::vector<std::string> &Passed) {
  std::vector<Word> Words;
  for (size_t I = 0; I < Passed.size(); ++I) {
    const std::string &A = Passed[I];
    if (startsWith(A, "-Wl,")) {
      std::istringstream Parts(A.substr(4));
      for (std::string Part; std::getline(Parts, Part, ',');)
        Words.push_back({I, Part});
    } else if (A == "-Xlinker" && I + 1 < Passed.size()) {
      Words.push_back({++I, Passed[I]});
    } else if (A == "-z" && I + 1 < Passed.size()) {
      Words.push_back({I, A});
      Words.push_back({++I, Passed[I]});
    } else if (A == "-zdefs" || A == "--no-undefined") {
      Words.push_back({I, A});
    }
  }
  return Words;
}

/// Places of words that go.
std::set<size_t> findChecks(const std::vector<Word> &Words) {
  std::set<size_t> Gone;
  for (size_t I = 0; I < Words.size(); ++I) {
    const std::string &W = Words[I].Text;
    if (W == "--no-undefined" || W == "-no-undefined" || W == "-zdefs")
      Gone.insert(I);
    if (W == "-z" && I + 1 < Words.size() && Words[I + 1].Text == "defs")
      Gone.insert({I, I + 1});
  }
  return Gone;
}

/// The program that clang would run: its name when all links are followed.
std::string linkerOnPath() {
  const char *Path = std::getenv("PATH");
  std::istringstream Folders(Path ? Path : "");
  for (std::string Folder; std::getline(Folders, Folder, ':');) {
    std::error_code Failed;
    fs::path Whole = fs::canonical(fs::path(Folder) / "ld", Failed);
    if (!Failed)
      return Whole.filename().string();
  }
  return "";
}

} // namespace

bool forbidsUndefined(const std::string &Argument) {
  return Argument.find("no-undefined") != std::string::npos ||
         Argument.find("defs") != std::string::npos;
}

bool linksWithGnuLd(const std::vector<std::string> &Passed) {
  std::string Chosen;
  for (const std::string &A : Passed) {
    if (startsWith(A, "-B") || startsWith(A, "--ld-path="))
      return false; // perhaps; nobody looks there
    if (startsWith(A, "-fuse-ld="))
      Chosen = A.substr(A.find('=') + 1);
  }
  if (!Chosen.empty() && Chosen != "ld")
    return Chosen == "bfd";
  std::string Name = linkerOnPath();
  return Name.size() > 4 && Name.compare(Name.size() - 4, 4, ".bfd") == 0;
}

std::vector<std::string> withoutUndefinedChecks(const std::vector<std::string> &Passed) {
  std::vector<Word> Words = linkerWords(Passed);
  std::set<size_t> Gone = findChecks(Words);
  if (Gone.empty())
    return Passed;
  std::vector<std::string> Left(Passed);
  std::set<size_t> Empty, Changed;
  for (size_t I : Gone)
    Changed.insert(Words[I].Argument);
  for (size_t A : Changed) {
    std::string Text;
    for (size_t I = 0; I < Words.size(); ++I)
      if (Words[I].Argument == A && !Gone.count(I))
        Text += "," + Words[I].Text;
    Left[A] = Text.empty() ? "" : "-Wl" + Text;
    if (!Text.empty())
      continue;
    Empty.insert(A);
    if (A && Passed[A - 1] == "-Xlinker")
      Empty.insert(A - 1);
  }
  std::vector<std::string> Made;
  for (size_t A = 0; A < Left.size(); ++A)
    if (!Empty.count(A))
      Made.push_back(Left[A]);
  return Made;
}

} // namespace nvmove::driver
