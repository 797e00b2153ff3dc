// Facts as a test writes them: the register language of facts/Facts.h in the clothes of C, one
// instruction a line, linked into a program.
//
//   struct node { node *next; char[8] name; }      struct opaque;       no body: incomplete
//   global node *head                              const global node *first
//   noreturn die                                   formats complain     marks of a function
//   start {                                        the static initialisers
//   void *f(node *n, int size, ...) {              a body ends with "}" and so do if and loop
//     local node *x                                a variable that lives in memory
//     p = &x              AddressOf, of a variable or function
//     node *q = n         Copy
//     p = &n->next        FieldOf
//     p = &n[]            ElementOf
//     p = n + 8           Offset; also "n - 8"
//     p = n + ?           Wander
//     item *i = (item *)n         Cast; "(implicit char *)n": not written by the programmer
//     node *q = *p        Load
//     *p = q              Store; "*p = q : base *": through another type than that of q
//     *p = *q : node      CopyObject
//     s = sizeof node     SizeOf
//     void *m = malloc(s) Call, of a function that has a body or none
//     (*h)(q)             Call through a pointer
//     return m
//     if {                loop {
//
// Types: void, char, int, long, ulong, code (a function) and the records, with "*" or "[N]" behind
// them. Each value has a name, a register; it has a type when its first line says so. Fields begin
// at multiples of 8. "null" is the null pointer.
#pragma once

#include "solve/program/Program.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace nvmove {

class FactsText {
public:
  explicit FactsText(llvm::StringRef Text);

  const solve::Program &program() const { return *P; }
  solve::FunctionId function(llvm::StringRef Name) const;
  solve::RecordKey record(llvm::StringRef Name) const;
  solve::GlobalId global(llvm::StringRef Name) const;
  /// The register called \p Name in \p Function.
  facts::Register reg(llvm::StringRef Function, llvm::StringRef Name) const;
  /// The name of a register; "" when it has none.
  std::string nameOf(solve::FunctionId In, facts::Register R) const;

  /// Names of what \p Ids number, sorted, with spaces between them.
  template <typename Range> std::string functions(const Range &Ids) const {
    std::set<std::string> Names;
    for (solve::FunctionId Id : Ids)
      Names.insert(P->function(Id).Name);
    return joined(Names);
  }
  static std::string joined(const std::set<std::string> &Names);

private:
  std::unique_ptr<solve::Program> P;
  std::map<std::string, std::map<std::string, facts::Register>> Registers; ///< By function, name.
};

} // namespace nvmove
