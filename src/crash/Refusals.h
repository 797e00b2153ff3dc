// Since when the checker refuses even a state that loses nothing.
//
// Such a state is all that was stored up to its moment. When the program leaves something wrong
// behind, all later ones are refused as well; the store that did it is not the one at which that was
// seen, since a look leaves moments out. The moments between the last one that was right and this
// one are halved until two neighbours are left.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>

namespace nvmove::crash {

class Refusals {
public:
  void right(size_t Event) { Rights.insert(Event); }
  /// All that was stored before \p Event. \p IsRight is asked where it is not known.
  bool isRight(size_t Event, llvm::function_ref<bool(size_t Event)> IsRight);

  /// Refused with all that was stored before \p Event: the first event, above one that is right,
  /// for which that holds. \p IsRight judges what was stored before an event; it is asked some
  /// twenty times at most.
  size_t first(size_t Event, llvm::function_ref<bool(size_t Event)> IsRight);

private:
  std::set<size_t> Rights;
  std::map<size_t, size_t> Spans; ///< first -> the last that is known to be refused since
};

} // namespace nvmove::crash
