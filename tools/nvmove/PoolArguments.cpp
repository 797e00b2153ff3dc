// The options of `nvmove pool`: see Arguments.h.
#include "nvmove/Arguments.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>

#include <cmath>

namespace nvmove::tool {

namespace {

constexpr const char *PoolFooter = R"(
info, check, leaks and dump look at a copy of the pool in memory, recovered if need be: the file is not
changed. A pool that a process has open is not looked at, but backup copies it; while one is looked at no
program opens it. Blocks of types that nvmove-cc described are known by name and member; the pool itself
says them, the program is not needed.

Examples:
  nvmove pool info data.pool
  nvmove pool check data.pool
  nvmove pool dump data.pool --type 'struct node'
  nvmove pool dump data.pool --format=graph | dot -Tsvg > pool.svg
  nvmove pool resize data.pool --size 1G
  nvmove pool leaks data.pool || nvmove pool gc data.pool
  nvmove pool backup data.pool monday.pool
  nvmove pool convert data.pool new.pool --layouts ./program --map fields.yaml
  nvmove pool repair data.pool --dry-run
  nvmove pool repair data.pool --undo data.pool.repair-1

Next:
  nvmove pool repair FILE --dry-run  after check has found damage
  nvmove pool gc FILE                after leaks has found some
  nvmove pool check FILE             after backup and convert

Exit status:
  0  done; check found no fault, leaks no garbage, repair left nothing that is wrong
  1  check found faults, leaks found garbage, repair left faults
  2  wrong usage, or the pool cannot be opened
  3  internal error)";

struct Verb {
  PoolVerb What;
  const char *Name, *Help;
  std::vector<std::string> Formats;
};

const std::vector<Verb> &verbs() {
  static const std::vector<Verb> All = {
      {PoolVerb::Info, "info", "What the pool says of itself, and what is in it", {"text", "json"}},
      {PoolVerb::Check,
       "check",
       "Look for damage: header, logs, heap, types, every pointer",
       {"text", "json"}},
      {PoolVerb::Repair,
       "repair",
       "Mend damage, keep what is changed in FILE.repair-N, check again",
       {"text", "json"}},
      {PoolVerb::Backup,
       "backup",
       "Copy the pool to a new file, consistent, also while a program writes to it",
       {"text", "json"}},
      {PoolVerb::Convert,
       "convert",
       "Make a pool for a program whose types have changed",
       {"text", "json"}},
      {PoolVerb::Leaks,
       "leaks",
       "Count the blocks that the root does not lead to, by type",
       {"text", "json"}},
      {PoolVerb::Collect, "gc", "Free them", {"text", "json"}},
      {PoolVerb::Dump, "dump", "Print the objects and their values", {"text", "json", "graph"}},
      {PoolVerb::Resize, "resize", "Make the file longer, or shorter by its free end", {"text"}},
      {PoolVerb::Create, "create", "Make an empty pool", {"text"}},
      {PoolVerb::Remove, "rm", "Remove a pool that nobody has open", {"text"}},
  };
  return All;
}

} // namespace

namespace {

/// "64M" to "67108864". CLI11's own takes -4 and more than 2^64 for nearly 2^64, and M for 1M.
std::string readSize(std::string &Text) {
  std::string Fault = "'" + Text + "' is no size; bytes, or a number with K, M or G, as 64M";
  constexpr size_t DigitsMax = 19; // of a number that is less than 2^64 in any case
  size_t Digits = llvm::StringRef(Text).take_while(llvm::isDigit).size();
  if (Digits == 0 || Digits > DigitsMax)
    return Fault;
  try {
    return CLI::AsSizeValue(false)(Text);
  } catch (const CLI::ValidationError &) {
    return Fault;
  }
}

std::string checkPositiveSeconds(const std::string &Text) {
  double Seconds = 0;
  if (llvm::StringRef(Text).getAsDouble(Seconds) || !(Seconds > 0) || std::isinf(Seconds))
    return "'" + Text + "' is no number of seconds above 0";
  return "";
}

/// An unset variable of the shell must not mean that the option was not given.
std::string checkName(const std::string &Name) {
  return Name.empty() ? "the name of a file is missing" : "";
}

void addBackupOptions(CLI::App &Sub, PoolArguments &P) {
  Sub.add_option("copy", P.Copy, "the new file")->option_text("DEST")->required();
  Sub.add_option("--wait", P.SecondsMax,
                 "how long to try, when the program writes all the time and does not answer (30)")
      ->option_text("SECONDS")
      ->check(CLI::Validator(checkPositiveSeconds, ""));
}

void addConvertOptions(CLI::App &Sub, PoolArguments &P) {
  Sub.add_option("copy", P.Copy, "the new file; the pool itself stays as it is")
      ->option_text("NEW")
      ->required();
  Sub.add_option("--layouts", P.Layouts,
                 "the new program, or a pool that it made: its types (those of FILE)")
      ->option_text("PROGRAM")
      ->check(CLI::Validator(checkName, ""));
  Sub.add_option("--map", P.Map, "what is called otherwise, given up, or new")
      ->option_text("FILE")
      ->check(CLI::Validator(checkName, ""));
}

void addRepairOptions(CLI::App &Sub, PoolArguments &P) {
  Sub.add_flag("-n,--dry-run", P.DryRun, "say what would be mended, change nothing");
  Sub.add_option("--undo", P.Undo, "put back what a repair changed and kept in this file")
      ->option_text("FILE")
      ->check(CLI::Validator(checkName, ""));
  Sub.add_flag("--null-dangling", P.NullDangling,
               "pointers that lead nowhere become null; give up what a cut file lost");
  Sub.add_flag(
      "--drop-log", P.DropLog,
      "cut off a damaged log of a pool that was not closed: what was open stays half done");
  Sub.add_flag("--forget-types", P.ForgetTypes,
               "blocks of a type whose layout is lost become blocks without type");
  Sub.add_option("--root", P.Root, "where the root's block lies, if the pool has none any more")
      ->option_text("OFFSET");
}

} // namespace

void addPoolOptions(CLI::App &Pool, Arguments &A) {
  Pool.require_subcommand(1);
  for (const Verb &V : verbs()) {
    CLI::App *Sub = Pool.add_subcommand(V.Name, V.Help);
    Sub->footer("");
    Sub->add_option("pool", A.Pool.Path, "the pool's file")->option_text("FILE")->required();
    if (V.Formats.size() > 1)
      Sub->add_option("--format", A.Format,
                      V.Formats.size() > 2
                          ? "text (default), json (a line for each object) or graph"
                          : "text (default) or json")
          ->option_text("NAME")
          ->check(CLI::IsMember(V.Formats));
    if (V.What != PoolVerb::Create && V.What != PoolVerb::Remove && V.What != PoolVerb::Resize)
      Sub->add_option("-o,--output", A.Output, "write there instead of to stdout")
          ->option_text("FILE");
    if (V.What == PoolVerb::Backup)
      addBackupOptions(*Sub, A.Pool);
    if (V.What == PoolVerb::Convert)
      addConvertOptions(*Sub, A.Pool);
    if (V.What == PoolVerb::Repair)
      addRepairOptions(*Sub, A.Pool);
    if (V.What == PoolVerb::Dump)
      Sub->add_option("--type", A.Pool.Type, "only objects of this type, e.g. 'struct node'")
          ->option_text("TYPE");
    if (V.What == PoolVerb::Create || V.What == PoolVerb::Resize || V.What == PoolVerb::Convert)
      Sub->add_option(
             "--size", A.Pool.Size,
             "bytes, or with K, M, G (1024 each); at least 1M; it may grow to four times as "
             "much as at first, and at least to 1G")
          ->option_text("SIZE")
          ->required(V.What != PoolVerb::Convert)
          ->transform(CLI::Validator(readSize, ""));
    Sub->callback([&A, &V] {
      A.Pool.What = V.What;
      A.Pool.Name = V.Name;
    });
  }
  Pool.footer(PoolFooter);
}

} // namespace nvmove::tool
