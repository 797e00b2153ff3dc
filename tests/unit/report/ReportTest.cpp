// Tests of src/report on a made-up result, with the awkward cases that real ones rarely have.
#include "InFolder.h"

#include "report/Report.h"
#include "report/Words.h"

#include "llvm/Support/JSON.h"

using namespace nvmove;
using namespace nvmove::report;

namespace {

class ReportTest : public InFolder {
protected:
  ScanResult result() {
    put("a.c", "struct dict { int x; };\nint load(void) { return <evil> & \"co\"; }\n");
    ScanResult R;
    R.Program = "tree <1>";
    R.Algorithm = "left-behind";
    R.Load = {"load", "more"};
    PersistentType T;
    T.Name = "dict";
    T.Aliases = {"struct dict", "map_t"};
    T.Definition = {path("a.c"), 1, 8};
    T.SizeBytes = 1234567;
    T.Sureness = Confidence::Medium;
    T.Why = "why \xff not"; // No UTF-8.
    T.Evidence = {{EvidenceStep::Kind::Load, {path("a.c"), 2, 5}, "the load starts here"},
                  {EvidenceStep::Kind::Root, {"", 0, 0}, "kept in 'db'"}};
    R.Types = {T};
    for (int I = 0; I < 9; ++I)
      R.UnresolvedCalls.push_back({{path("a.c"), 2, 1}, "load", "call " + std::to_string(I)});
    R.Skipped = {{path("b.c"), "does not compile"}};
    R.Notes = {"a bound was hit"};
    R.Stats.TranslationUnits = 2;
    return R;
  }

  std::string text(const ScanResult &R, const TextOptions &O = {}) {
    std::string Out;
    llvm::raw_string_ostream OS(Out);
    printText(R, OS, O);
    return Out;
  }
};

bool contains(llvm::StringRef Text, llvm::StringRef Part) { return Text.contains(Part); }

TEST_F(ReportTest, TextHasTableChainAndLeftovers) {
  std::string Out = text(result());
  EXPECT_TRUE(contains(Out, "what load and more leaves behind"));
  EXPECT_TRUE(contains(Out, "dict (map_t)"));
  EXPECT_TRUE(contains(Out, "a.c:1:8: remark: 'struct dict' is persistent (medium: why"));
  EXPECT_TRUE(contains(Out, "a.c:2:5: note: the load starts here\n    2 | int load(void)"));
  EXPECT_TRUE(contains(Out, "\nnote: kept in 'db'"));
  EXPECT_TRUE(contains(Out, "b.c: does not compile"));
  EXPECT_TRUE(contains(Out, "... and 4 more (-v lists all)"));
  EXPECT_TRUE(contains(Out, "a bound was hit"));
  EXPECT_FALSE(contains(Out, "\033"));
}

TEST_F(ReportTest, TextOptionsAreObeyed) {
  TextOptions Quiet, Verbose;
  Quiet.Chains = false;
  Verbose.Verbose = true;
  EXPECT_FALSE(contains(text(result(), Quiet), "remark:"));
  EXPECT_TRUE(contains(text(result(), Verbose), "call 8"));
}

TEST_F(ReportTest, NothingFoundSaysWhatToTry) {
  ScanResult R = result();
  R.Types.clear();
  EXPECT_TRUE(contains(text(R), "What to try"));
}

TEST_F(ReportTest, JsonIsValidWhateverTheInput) {
  std::string Out;
  llvm::raw_string_ostream OS(Out);
  printJson(result(), OS);
  llvm::Expected<llvm::json::Value> Json = llvm::json::parse(Out);
  ASSERT_TRUE(static_cast<bool>(Json)) << toString(Json.takeError());
  const llvm::json::Object *Top = Json->getAsObject();
  EXPECT_EQ(Top->getInteger("schema_version"), 1);
  const llvm::json::Object *Type = (*Top->getArray("types"))[0].getAsObject();
  EXPECT_EQ(Type->getString("name"), "dict");
  EXPECT_EQ(Type->getString("kind"), "struct");
  EXPECT_EQ(Type->getInteger("size"), 1234567);
  EXPECT_EQ(Type->getArray("evidence")->size(), 2u);
}

TEST_F(ReportTest, HtmlEscapesAndIsSelfContained) {
  std::string Out;
  llvm::raw_string_ostream OS(Out);
  printHtml(result(), OS);
  EXPECT_TRUE(contains(Out, "tree &lt;1&gt;"));
  EXPECT_TRUE(contains(Out, "&lt;evil&gt; &amp; &quot;co&quot;"));
  EXPECT_FALSE(contains(Out, "<evil>"));
  for (const char *Outside : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_FALSE(contains(Out, Outside)) << Outside;
}

TEST(Words, CountAndList) {
  EXPECT_EQ(counted(1, "type"), "1 type");
  EXPECT_EQ(counted(1234567, "line"), "1,234,567 lines");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(listed({}), "");
}

} // namespace
