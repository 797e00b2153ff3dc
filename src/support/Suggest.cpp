// Spelling suggestions by edit distance: see Suggest.h.
#include "support/Suggest.h"

#include <algorithm>

namespace nvmove::support {

std::vector<std::string> nearest(llvm::StringRef Word, llvm::ArrayRef<std::string> Known,
                                 size_t Max) {
  // Two edits allow for exchanged letters; in a very short word they would allow for anything.
  const unsigned Least = Word.size() > 3 ? 2 : 1;
  const unsigned Limit = std::max(Least, static_cast<unsigned>(Word.size() / 3));
  constexpr size_t ContainedLengthMin = 3; // Shorter words are contained in everything.
  std::vector<std::pair<unsigned, llvm::StringRef>> Ranked;
  for (const std::string &Candidate : Known) {
    llvm::StringRef Name(Candidate);
    unsigned Distance = Word.edit_distance_insensitive(Name, true, Limit + 1);
    if (Distance <= Limit)
      Ranked.emplace_back(Distance, Name);
    else if (Word.size() >= ContainedLengthMin && Name.contains_insensitive(Word))
      Ranked.emplace_back(Limit + 1 + static_cast<unsigned>(Name.size()), Name);
  }
  std::sort(Ranked.begin(), Ranked.end());
  Ranked.erase(std::unique(Ranked.begin(), Ranked.end()), Ranked.end());
  std::vector<std::string> Names;
  for (size_t I = 0; I < Ranked.size() && I < Max; ++I)
    Names.push_back(Ranked[I].second.str());
  return Names;
}

std::string didYouMean(llvm::ArrayRef<std::string> Candidates) {
  if (Candidates.empty())
    return "";
  std::string Text = "; did you mean ";
  for (size_t I = 0; I < Candidates.size(); ++I) {
    if (I)
      Text += I + 1 == Candidates.size() ? " or " : ", ";
    Text += "'" + Candidates[I] + "'";
  }
  return Text + "?";
}

} // namespace nvmove::support
