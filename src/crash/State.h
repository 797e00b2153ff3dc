// The name of a state, by which one command shows it again: at which event of the trace the crash
// comes, and which lines have not reached the media in full.
//
//   EVENT                    every store up to there is on the media
//   EVENT:LINE@VERSION,...   but of these lines (number in hexadecimal) only an earlier version,
//                            counted from what was guaranteed, 0
//   ...+recovery             and its recovery is interrupted, too
#pragma once

#include "crash/Media.h"

#include <optional>

namespace nvmove::crash {

struct State {
  size_t Event = 0;
  std::vector<std::pair<uint64_t, size_t>> Lost; ///< line, version
  bool Recovery = false;

  std::string text() const;
  /// Nothing: it is no such name.
  static std::optional<State> parse(llvm::StringRef Text);
  static State of(size_t Event, const Choices &All, bool Recovery);
  /// The choices of the moment that the state says; false: there are no such lines or versions.
  bool choose(Choices &All) const;
};

} // namespace nvmove::crash
