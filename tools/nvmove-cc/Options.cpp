// The tables of options: see Options.h.
#include "Options.h"

#include <algorithm>

namespace nvmove::driver {

using Use = OwnOption::Use;

const std::vector<OwnOption> OwnOptions = {
    {"atomic", "F,G,...", "each call of these functions is one transaction", Use::Plugin},
    {"atomics", "warn|locked", "read-modify-write of persistent memory: warn, or log it",
     Use::Plugin},
    {"checked", "", "check each pointer stored into persistent memory", Use::Plugin},
    {"clang", "FILE", "run this clang (of version 19)", Use::Clang},
    {"commit", "F,G,...", "what is open commits on entry to these functions", Use::Plugin},
    {"emulate", "PROFILE",
     "accesses to persistent types wait as in this memory; no writes are announced", Use::Plugin},
    {"emulate-types", "FILE", "these types: what nvmove scan --format=json prints, or a list",
     Use::Plugin},
    {"globals", "volatile|persistent", "persistent: a linker script places them in the range",
     Use::Plugin},
    {"help", "", "this list", Use::Help},
    {"loads", "source|optimized",
     "announce loads, too, or charge these accesses: all of the source, or those left",
     Use::Plugin},
    {"observe", "", "for 'nvmove observe': the program as it is, and notes of what it allocates",
     Use::Observe},
    {"port", "FILE", "a port file: marks and boundaries that the source does not have",
     Use::Plugin},
    {"redirect", "",
     "loads and stores of persistent memory are calls, as the methods lat and latb need",
     Use::Plugin},
    {"remarks", "", "say what was noted, and what was skipped and why", Use::Plugin},
    {"runtime", "FILE|none", "link this instead of libnvmove.a", Use::Runtime},
    {"split", "F,G,...", "what is open commits on entry to these if it is long", Use::Plugin},
    {"trace", "",
     "tell of each store with its place, for 'nvmove crash'; =raw: of a program that flushes by "
     "itself",
     Use::Plugin},
    {"unsafe", "FILE", "what pre-compiled functions write (may be repeated)", Use::Plugin},
    {"warnings", "on|off|error", "warn about writes that cannot be logged, or fail", Use::Plugin},
};

namespace {

constexpr std::string_view Prefix = "--nvmove-";

struct Entry {
  std::string_view Name;
  Meaning What;
};

// Sorted, for the binary search. Options that take their value in the next argument are here so
// that the value is not taken for an input; those that join it (-Ifoo, -MFfoo) need no entry.
const Entry Table[] = {
    {"--dump-machine", Meaning::StopsBefore},
    {"--help", Meaning::StopsBefore},
    {"--param", Meaning::TakesValue},
    {"--precompile", Meaning::StopsBefore},
    {"--serialize-diagnostics", Meaning::TakesValue},
    {"--shared", Meaning::NoRuntime},
    {"--sysroot", Meaning::TakesValue},
    {"--version", Meaning::StopsBefore},
    {"-A", Meaning::TakesValue},
    {"-B", Meaning::TakesValue},
    {"-D", Meaning::TakesValue},
    {"-E", Meaning::StopsBefore},
    {"-F", Meaning::TakesValue},
    {"-G", Meaning::TakesValue},
    {"-I", Meaning::TakesValue},
    {"-L", Meaning::TakesValue},
    {"-M", Meaning::StopsBefore},
    {"-MF", Meaning::TakesValue},
    {"-MJ", Meaning::TakesValue},
    {"-MM", Meaning::StopsBefore},
    {"-MQ", Meaning::TakesValue},
    {"-MT", Meaning::TakesValue},
    {"-S", Meaning::StopsBefore},
    {"-T", Meaning::TakesValue},
    {"-U", Meaning::TakesValue},
    {"-Xassembler", Meaning::TakesValue},
    {"-Xclang", Meaning::TakesValue},
    {"-Xlinker", Meaning::TakesValue},
    {"-Xpreprocessor", Meaning::TakesValue},
    {"-arch", Meaning::TakesValue},
    {"-c", Meaning::StopsBefore},
    {"-cc1", Meaning::Plain},
    {"-cc1as", Meaning::Plain},
    {"-dumpmachine", Meaning::StopsBefore},
    {"-dumpversion", Meaning::StopsBefore},
    {"-e", Meaning::TakesValue},
    {"-fsyntax-only", Meaning::StopsBefore},
    {"-idirafter", Meaning::TakesValue},
    {"-imacros", Meaning::TakesValue},
    {"-imultilib", Meaning::TakesValue},
    {"-include", Meaning::TakesValue},
    {"-iprefix", Meaning::TakesValue},
    {"-iquote", Meaning::TakesValue},
    {"-isysroot", Meaning::TakesValue},
    {"-isystem", Meaning::TakesValue},
    {"-iwithprefix", Meaning::TakesValue},
    {"-iwithprefixbefore", Meaning::TakesValue},
    {"-l", Meaning::TakesValue},
    {"-mllvm", Meaning::TakesValue},
    {"-nodefaultlibs", Meaning::NoLibraries},
    {"-nolibc", Meaning::NoLibraries},
    {"-nostdlib", Meaning::NoRuntime},
    {"-o", Meaning::TakesValue},
    {"-r", Meaning::NoRuntime},
    {"-shared", Meaning::NoRuntime},
    {"-target", Meaning::TakesValue},
    {"-u", Meaning::TakesValue},
    {"-x", Meaning::Language},
    {"-z", Meaning::TakesValue},
};

const Entry PrefixTable[] = {
    {"--print-", Meaning::StopsBefore},
    {"-print-", Meaning::StopsBefore},
    {"-x", Meaning::Language},
};

// As clang takes them.
constexpr std::string_view HeaderEndings[] = {"H", "h", "h++", "hh", "hp", "hpp", "hxx"};

size_t editDistance(std::string_view A, std::string_view B) {
  std::vector<size_t> Row(B.size() + 1);
  for (size_t J = 0; J <= B.size(); ++J)
    Row[J] = J;
  for (size_t I = 1; I <= A.size(); ++I) {
    size_t Diagonal = Row[0];
    Row[0] = I;
    for (size_t J = 1; J <= B.size(); ++J) {
      size_t Above = Row[J];
      Row[J] = std::min({Above + 1, Row[J - 1] + 1, Diagonal + (A[I - 1] != B[J - 1])});
      Diagonal = Above;
    }
  }
  return Row[B.size()];
}

std::string_view nameOf(std::string_view Argument) {
  Argument.remove_prefix(Prefix.size());
  return Argument.substr(0, Argument.find('='));
}

} // namespace

const OwnOption *findOwn(std::string_view Argument) {
  for (const OwnOption &O : OwnOptions)
    if (O.Name == nameOf(Argument))
      return &O;
  return nullptr;
}

std::string didYouMean(std::string_view Argument) {
  std::string_view Name = nameOf(Argument);
  const OwnOption *Nearest = nullptr;
  size_t Least = Name.size() / 3 + 2; // fewer edits than that, or it is another word
  for (const OwnOption &O : OwnOptions)
    if (size_t Distance = editDistance(Name, O.Name); Distance < Least)
      Least = Distance, Nearest = &O;
  if (!Nearest)
    return "";
  return "; did you mean '" + std::string(Prefix) + std::string(Nearest->Name) + "'?";
}

Meaning meaningOf(std::string_view Argument) {
  const Entry *End = std::end(Table);
  const Entry *Found =
      std::lower_bound(std::begin(Table), End, Argument,
                       [](const Entry &E, std::string_view Name) { return E.Name < Name; });
  if (Found != End && Found->Name == Argument)
    return Found->What;
  for (const Entry &E : PrefixTable)
    if (Argument.substr(0, E.Name.size()) == E.Name)
      return E.What;
  return Meaning::None;
}

bool isHeader(std::string_view Input, std::string_view Language) {
  if (!Language.empty() && Language != "none")
    return Language.find("-header") != std::string_view::npos;
  size_t Dot = Input.rfind('.');
  return Dot != std::string_view::npos &&
         std::find(std::begin(HeaderEndings), std::end(HeaderEndings), Input.substr(Dot + 1)) !=
             std::end(HeaderEndings);
}

} // namespace nvmove::driver
