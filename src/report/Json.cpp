// The result as JSON, schema version 1: see Report.h.
#include "report/JsonText.h"
#include "report/Report.h"
#include "report/Words.h"

namespace nvmove::report {

namespace {

void printStrings(llvm::json::OStream &J, llvm::StringRef Key,
                  const std::vector<std::string> &Strings) {
  J.attributeArray(Key, [&] {
    for (const std::string &S : Strings)
      J.value(clean(S));
  });
}

void printPlace(llvm::json::OStream &J, const SourcePlace &Place, bool Column) {
  J.attribute("file", clean(Place.File));
  J.attribute("line", Place.Line);
  if (Column)
    J.attribute("column", Place.Column);
}

void printType(llvm::json::OStream &J, const PersistentType &Type) {
  J.object([&] {
    J.attribute("name", clean(Type.Name));
    printStrings(J, "aliases", Type.Aliases);
    J.attribute("kind", Type.Union ? "union" : "struct");
    printPlace(J, Type.Definition, /*Column=*/false);
    J.attribute("size", Type.SizeBytes);
    J.attribute("confidence", word(Type.Sureness));
    J.attribute("why", clean(Type.Why));
    if (Type.Run)
      J.attributeObject("run", [&] {
        J.attribute("says", word(Type.Run->What));
        J.attribute("made", Type.Run->Made);
        J.attribute("linked", Type.Run->Linked);
        J.attribute("why", clean(Type.Run->Why));
      });
    J.attributeArray("evidence", [&] {
      for (const EvidenceStep &Step : Type.Evidence)
        J.object([&] {
          J.attribute("kind", word(Step.What));
          printPlace(J, Step.Where, /*Column=*/true);
          J.attribute("text", clean(Step.Text));
        });
    });
  });
}

void printStats(llvm::json::OStream &J, const ScanStats &Stats) {
  J.attributeObject("stats", [&] {
    J.attribute("translation_units", Stats.TranslationUnits);
    J.attribute("from_cache", Stats.FromCache);
    J.attribute("lines", Stats.Lines);
    J.attribute("functions_total", Stats.FunctionsTotal);
    J.attribute("functions_visited", Stats.FunctionsVisited);
    J.attribute("types_total", Stats.TypesTotal);
    J.attribute("seconds", Stats.Seconds);
    J.attribute("solve_seconds", Stats.SolveSeconds);
    J.attribute("peak_memory_bytes", Stats.PeakMemoryBytes);
  });
}

} // namespace

void printJson(const ScanResult &Result, llvm::raw_ostream &OS) {
  llvm::json::OStream J(OS, Indent);
  J.object([&] {
    J.attribute("schema_version", SchemaVersion);
    J.attribute("program", clean(Result.Program));
    J.attribute("algorithm", clean(Result.Algorithm));
    printStrings(J, "load", Result.Load);
    printStrings(J, "save", Result.Save);
    J.attributeArray("types", [&] {
      for (const PersistentType &Type : Result.Types)
        printType(J, Type);
    });
    J.attributeArray("skipped", [&] {
      for (const SkippedInput &Input : Result.Skipped)
        J.object([&] {
          J.attribute("file", clean(Input.File));
          J.attribute("why", clean(Input.Why));
        });
    });
    J.attributeArray("unresolved_calls", [&] {
      for (const UnresolvedCall &Call : Result.UnresolvedCalls)
        J.object([&] {
          printPlace(J, Call.Where, /*Column=*/true);
          J.attribute("function", clean(Call.Function));
          J.attribute("why", clean(Call.Why));
        });
    });
    printStrings(J, "notes", Result.Notes);
    printStats(J, Result.Stats);
  });
  OS << '\n';
}

} // namespace nvmove::report
