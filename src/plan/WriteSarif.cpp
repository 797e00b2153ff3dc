// See WriteSarif.h.
#include "plan/WriteSarif.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

namespace nvmove::plan {

namespace {

struct Rule {
  DriftKind Kind;
  const char *Id, *Says;
};

constexpr Rule Rules[] = {
#define DRIFT(NAME, ID, SAYS) {DriftKind::NAME, ID, SAYS},
#include "plan/Drift.def"
#undef DRIFT
};

/// "file:///a/b%20c.c"
std::string uriOf(llvm::StringRef Path) {
  llvm::SmallString<256> Whole(Path);
  llvm::sys::fs::make_absolute(Whole);
  std::string Uri = "file://";
  for (char C : Whole) {
    if (llvm::isAlnum(C) || llvm::StringRef("/-._~").contains(C)) {
      Uri += C;
      continue;
    }
    Uri += '%';
    Uri += llvm::toHex(llvm::StringRef(&C, 1));
  }
  return Uri;
}

void writeRules(llvm::json::OStream &J) {
  J.attributeArray("rules", [&] {
    for (const Rule &Each : Rules)
      J.object([&] {
        J.attribute("id", Each.Id);
        J.attributeObject("shortDescription", [&] { J.attribute("text", Each.Says); });
      });
  });
}

void writeResult(const DriftLine &Each, llvm::json::OStream &J) {
  const Rule *Of = llvm::find_if(Rules, [&](const Rule &R) { return R.Kind == Each.Kind; });
  J.object([&] {
    J.attribute("ruleId", Of->Id);
    J.attribute("ruleIndex", Of - std::begin(Rules));
    J.attribute("level", "warning");
    J.attributeObject("message", [&] {
      J.attribute("text", llvm::json::fixUTF8("'" + Each.Of.Name + "' " + Each.Of.Why));
    });
    if (Each.Of.Where.File.empty())
      return;
    J.attributeArray("locations", [&] {
      J.object([&] {
        J.attributeObject("physicalLocation", [&] {
          J.attributeObject("artifactLocation",
                            [&] { J.attribute("uri", uriOf(Each.Of.Where.File)); });
          J.attributeObject("region", [&] {
            J.attribute("startLine", std::max(Each.Of.Where.Line, 1u));
            J.attribute("startColumn", std::max(Each.Of.Where.Column, 1u));
          });
        });
      });
    });
  });
}

} // namespace

void writeSarif(const Plan &P, llvm::StringRef Version, bool Whole, llvm::raw_ostream &OS) {
  llvm::json::OStream J(OS, 2);
  J.object([&] {
    J.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    J.attribute("version", "2.1.0");
    J.attributeArray("runs", [&] {
      J.object([&] {
        J.attributeObject("tool", [&] {
          J.attributeObject("driver", [&] {
            J.attribute("name", "nvmove plan --check");
            J.attribute("version", Version);
            writeRules(J);
          });
        });
        J.attribute("columnKind", "unicodeCodePoints");
        J.attributeArray("invocations",
                         [&] { J.object([&] { J.attribute("executionSuccessful", Whole); }); });
        J.attributeArray("results", [&] {
          for (const DriftLine &Each : P.Drift)
            writeResult(Each, J);
        });
      });
    });
  });
  OS << '\n';
}

} // namespace nvmove::plan
