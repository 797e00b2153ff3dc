// The words of one line of a text. See FactsText.h.
#pragma once

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <string>
#include <vector>

namespace nvmove {

/// A test whose text makes no sense ends the run, with the number of the line.
class Words {
public:
  void read(llvm::StringRef Line) {
    ++Number;
    All.clear();
    At = 0;
    while (!(Line = Line.ltrim()).empty()) {
      size_t Size = Line.find_if_not([](char C) { return llvm::isAlnum(C) || C == '_'; });
      Size = std::min(Size, Line.size());
      if (!Size)
        Size = Line.starts_with("...") ? 3 : Line.starts_with("->") ? 2 : 1;
      All.push_back(Line.take_front(Size).str());
      Line = Line.drop_front(Size);
    }
  }
  unsigned number() const { return Number; }
  const std::string &first() const { return All.front(); }
  bool done() const { return At == All.size(); }
  std::string peek(size_t Ahead = 0) const {
    return At + Ahead < All.size() ? All[At + Ahead] : "";
  }
  bool take(llvm::StringRef Word) {
    bool Is = peek() == Word;
    At += Is;
    return Is;
  }
  std::string word() {
    if (done())
      fail("ends too early");
    return All[At++];
  }
  void need(llvm::StringRef Word) {
    if (!take(Word))
      fail("'" + Word + "' is missing before '" + peek() + "'");
  }
  [[noreturn]] void fail(const llvm::Twine &Why) const {
    llvm::report_fatal_error("facts as text, line " + llvm::Twine(Number) + ": " + Why);
  }

private:
  unsigned Number = 0;
  std::vector<std::string> All;
  size_t At = 0;
};

} // namespace nvmove
