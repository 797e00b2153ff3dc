// Functions, variables and places in the words of a port file.
#pragma once

#include "plan/Plan.h"
#include "solve/program/Program.h"

#include <set>

namespace nvmove::plan {

using namespace solve;

class Names {
public:
  explicit Names(const Program &P) : P(P) {}

  /// "add", or "list.c:add" where another file has a function of that name ("lists/list.c:add" where
  /// files have one name, too).
  std::string function(FunctionId Id) const;
  std::string variable(GlobalId Id) const;
  /// The member of \p Outer at byte \p Offset, "" if it has none there.
  std::string member(RecordKey Outer, int64_t Offset) const;
  SourcePlace place(const FunctionInfo &In, const facts::Location &Where) const {
    return {In.unit().text(Where.File), Where.Line, Where.Column};
  }
  SourcePlace definition(FunctionId Id) const {
    const FunctionInfo &F = P.function(Id);
    return place(F, F.symbol().Where);
  }

private:
  std::string apart(const std::string &Own, const std::set<std::string> &Others) const;

  const Program &P;
};

/// None: there is no main.
FunctionId findMain(const Program &P);

/// The first of \p Texts, and how many more.
std::string listed(const std::set<std::string> &Texts);

/// "jobs.c:59".
std::string shown(const SourcePlace &Where);

} // namespace nvmove::plan
