// What functions turn out to be, in words.
#pragma once

#include "FactsText.h"

#include "solve/summary/Inference.h"

namespace nvmove {

struct Inferred : FactsText {
  explicit Inferred(llvm::StringRef Text) : FactsText(Text), Known(program()) {}

  bool noReturn(llvm::StringRef Name) const { return Known.noReturn(function(Name)); }
  bool formats(llvm::StringRef Name) const { return Known.formats(function(Name)); }
  /// "allocate size count", "resize pointer size", "release pointer", by names of parameters.
  std::string standsFor(llvm::StringRef Name) const {
    solve::FunctionId Id = function(Name);
    const solve::ExternalEffect &E = Known.standsFor(Id);
    auto Parameter = [&](int Number) {
      return Number < 0 ? "" : " " + nameOf(Id, static_cast<facts::Register>(Number));
    };
    switch (E.What) {
    case solve::Effect::Allocate:
      return "allocate" + Parameter(E.A) + Parameter(E.B);
    case solve::Effect::Resize:
      return "resize" + Parameter(E.A) + Parameter(E.B) + Parameter(E.C);
    case solve::Effect::Release:
      return std::string("release") + Parameter(E.A) +
             (E.B == solve::Conditional ? " sometimes" : "") +
             (E.C == solve::ThroughPointer ? " through" : "");
    default:
      return E.What == solve::Effect::Unknown ? "" : "another effect";
    }
  }
  std::string fills(llvm::StringRef Name) const {
    std::set<std::string> Names;
    for (unsigned Each : Known.filledParameters(function(Name)))
      Names.insert(nameOf(function(Name), Each));
    return joined(Names);
  }

  solve::Inference Known;
};

} // namespace nvmove
