// Names of states: see State.h.
#include "crash/State.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace nvmove::crash {

std::string State::text() const {
  std::string Text = std::to_string(Event);
  char Before = ':';
  for (auto [Line, Version] : Lost) {
    Text += Before + llvm::utohexstr(Line, /*LowerCase=*/true) + '@' + std::to_string(Version);
    Before = ',';
  }
  return Text + (Recovery ? "+recovery" : "");
}

std::optional<State> State::parse(llvm::StringRef Text) {
  State Made;
  Made.Recovery = Text.consume_back("+recovery");
  if (Text.consumeInteger(10, Made.Event))
    return std::nullopt;
  if (Text.empty())
    return Made;
  if (!Text.consume_front(":"))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef> Parts;
  Text.split(Parts, ',');
  for (llvm::StringRef Part : Parts) {
    auto [Line, Version] = Part.split('@');
    std::pair<uint64_t, size_t> One;
    if (Line.getAsInteger(16, One.first) || Version.getAsInteger(10, One.second))
      return std::nullopt;
    Made.Lost.push_back(One);
  }
  return Made;
}

State State::of(size_t Event, const Choices &All, bool Recovery) {
  State Made{Event, {}, Recovery};
  for (const Choice &C : All)
    if (C.Version + 1 < C.Dirty->Versions.size())
      Made.Lost.push_back({C.Line, C.Version});
  return Made;
}

bool State::choose(Choices &All) const {
  for (Choice &C : All)
    C.Version = C.Dirty->Versions.size() - 1;
  for (const auto &One : Lost) {
    auto Found =
        std::find_if(All.begin(), All.end(), [&](const Choice &C) { return C.Line == One.first; });
    if (Found == All.end() || One.second >= Found->Dirty->Versions.size())
      return false;
    Found->Version = One.second;
  }
  return true;
}

} // namespace nvmove::crash
