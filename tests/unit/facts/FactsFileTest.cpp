// Tests of src/facts/FactsFile: what is written is read back, and no image, however damaged, is
// read as something else or brings the reader down.
#include "InFolder.h"

#include "facts/FactsFile.h"
#include "scan/CompileDatabase.h"
#include "scan/Scanner.h"
#include "solve/answer/Solve.h"

#include "llvm/Support/Endian.h"

#include <xxhash.h>

using namespace nvmove;
using namespace nvmove::facts;

namespace {

/// Magic, version and checksum, as docs/internals/facts-format.md has them.
constexpr size_t HeaderBytes = 16;

/// Has every kind of type, symbol and region, and no member at its default.
TranslationUnit everyMember() {
  TranslationUnit Unit;
  Unit.MainFile = "/tree/main.c";
  Unit.Output = "main.o";
  Unit.Lines = 123456789;
  Unit.Strings = {"",
                  "main.c",
                  "node",
                  "list",
                  "next",
                  "load",
                  "void (struct node *)",
                  std::string("a\0b\n\xff", 5)};
  Unit.Types = {
      {TypeKind::Void, false, None, 0, 0},        {TypeKind::Scalar, false, None, 4, 2},
      {TypeKind::Record, false, 0, 24, 0},        {TypeKind::Pointer, true, 2, 8, 0},
      {TypeKind::Array, false, 2, UINT64_MAX, 0}, {TypeKind::Function, false, None, 0, 6}};
  Record Node;
  Node.Name = 2;
  Node.Aliases = {3, 7};
  Node.Union = Node.Complete = Node.System = true;
  Node.Where = {1, UINT32_MAX, 7};
  Node.Size = 24;
  Node.Fields = {{4, 3, 16}, {0, 1, UINT64_MAX}};
  Record Inner;
  Inner.Parent = 0;
  Unit.Records = {Node, Inner};
  Symbol Function{SymbolKind::Function, true, true, true, true, true, true, true, 5, 5, {1, 9, 5}};
  Symbol Local{SymbolKind::Local, false, false, false, false, false, false, false, 4, 3, {}};
  Symbol Global;
  Global.Type = 4;
  Unit.Symbols = {Function, Local, Global};

  facts::Function Body;
  Body.Symbol = 0;
  Body.ParameterCount = 1;
  Body.Variadic = true;
  Body.Result = 3;
  Body.Registers = {3, None, 1};
  Body.Regions = {{RegionKind::Body, None}, {RegionKind::Loop, 0}, {RegionKind::Branch, 1}};
  Body.Arguments = {0, NullRegister, None};
  Body.Assignments = {{0, true, false, {1, 2, 3}}, {1, false, true, {}}};
  Instruction Field;
  Field.Code = Op::FieldOf;
  Field.Region = 2;
  Field.Dst = 1;
  Field.A = 0;
  Field.B = 1;
  Field.Ty = 2;
  Field.Delta = INT64_MIN;
  Field.Where = {1, UINT32_MAX, UINT32_MAX};
  Instruction Store;
  Store.Code = Op::Store;
  Store.A = 1;
  Store.B = NullRegister;
  Store.Ty = 1;
  Store.Delta = INT64_MAX;
  Instruction Call;
  Call.Code = Op::Call;
  Call.Implicit = true;
  Call.ArgumentCount = 3;
  Call.A = 0;
  Call.Where = {1, 1, 1};
  Body.Body = {Field, Store, Call};
  Unit.Functions = {{}, Body};
  Unit.Functions[0].Regions = {{}};
  return Unit;
}

std::string messageOf(llvm::StringRef Image) {
  llvm::Expected<TranslationUnit> Unit = deserialise(Image, "some/unit.nvf");
  return Unit ? "" : llvm::toString(Unit.takeError());
}

/// Makes the checksum say that \p Image is whole.
void vouchFor(std::string &Image) {
  llvm::support::endian::write64le(
      &Image[8], XXH3_64bits(Image.data() + HeaderBytes, Image.size() - HeaderBytes));
}

std::string flipped(std::string Image, size_t Bit) {
  Image[Bit / 8] = static_cast<char>(Image[Bit / 8] ^ 1 << Bit % 8);
  return Image;
}

TEST(FactsFileTest, EveryMemberComesBack) {
  TranslationUnit Unit = everyMember();
  ASSERT_EQ(llvm::toString(verify(Unit)), "");
  std::string Image = serialise(Unit);
  llvm::Expected<TranslationUnit> Back = deserialise(Image, "unit.nvf");
  ASSERT_TRUE(bool(Back)) << llvm::toString(Back.takeError());
  EXPECT_EQ(serialise(*Back), Image);
  EXPECT_EQ(dump(*Back), dump(Unit));
  EXPECT_EQ(Back->Strings, Unit.Strings);
  EXPECT_EQ(Back->Output, "main.o");
  EXPECT_TRUE(Back->Types[3].ConstPointee);
  EXPECT_EQ(Back->Types[4].Size, UINT64_MAX);
  EXPECT_TRUE(Back->Records[0].Union && Back->Records[0].Complete && Back->Records[0].System);
  EXPECT_EQ(Back->Records[1].Parent, 0u);
  const facts::Function &Body = Back->Functions[1];
  EXPECT_TRUE(Body.Variadic);
  EXPECT_EQ(Body.Regions[2].Kind, RegionKind::Branch);
  EXPECT_EQ(Body.Regions[2].Parent, 1u);
  EXPECT_EQ(Body.Arguments, Unit.Functions[1].Arguments);
  EXPECT_TRUE(Body.Assignments[0].ByLibrary && Body.Assignments[1].ByInitialiser);
  EXPECT_EQ(Body.Body[0].Delta, INT64_MIN);
  EXPECT_EQ(Body.Body[0].Where.Line, UINT32_MAX);
  EXPECT_EQ(Body.Body[1].B, NullRegister);
  EXPECT_EQ(Body.Body[1].Delta, INT64_MAX);
  EXPECT_EQ(Body.Body[1].Where.Line, 0u);
  EXPECT_TRUE(Body.Body[2].Implicit);
  EXPECT_EQ(Body.Body[2].B, None);
}

TEST(FactsFileTest, EveryOperationComesBack) {
  TranslationUnit Unit = everyMember();
  for (unsigned Code = 0; Code <= static_cast<unsigned>(Op::Return); ++Code) {
    Instruction &I = Unit.Functions[1].Body[0];
    I.Code = static_cast<Op>(Code);
    I.Ty = I.Code == Op::Cast ? 3 : I.Code == Op::Call ? 5 : 2;
    ASSERT_EQ(llvm::toString(verify(Unit)), "") << Code;
    llvm::Expected<TranslationUnit> Back = deserialise(serialise(Unit), "unit.nvf");
    ASSERT_TRUE(bool(Back)) << Code << llvm::toString(Back.takeError());
    EXPECT_EQ(Back->Functions[1].Body[0].Code, I.Code);
  }
}

TEST(FactsFileTest, EveryTruncationIsRefused) {
  std::string Image = serialise(everyMember());
  for (size_t Length = 0; Length != Image.size(); ++Length) {
    std::string Why = messageOf(llvm::StringRef(Image).take_front(Length));
    EXPECT_NE(Why.find("some/unit.nvf"), std::string::npos) << Length;
    EXPECT_NE(Why.find(Length < HeaderBytes ? "not a facts file" : "cut or damaged"),
              std::string::npos)
        << Length << ": " << Why;
  }
  EXPECT_NE(messageOf(Image + '\0').find("cut or damaged"), std::string::npos);
}

TEST(FactsFileTest, EveryFlippedBitIsNoticed) {
  std::string Image = serialise(everyMember());
  for (size_t Bit = 0; Bit != Image.size() * 8; ++Bit) {
    std::string Why = messageOf(flipped(Image, Bit));
    const char *Expected = Bit < 32   ? "not a facts file"
                           : Bit < 64 ? "facts format version"
                                      : "cut or damaged";
    EXPECT_NE(Why.find(Expected), std::string::npos) << Bit << ": " << Why;
  }
}

/// Whoever made the image, with whatever bugs, also made its checksum.
TEST(FactsFileTest, DamageUnderAValidChecksumIsRefusedOrHarmless) {
  std::string Image = serialise(everyMember());
  size_t Refused = 0;
  for (size_t Bit = HeaderBytes * 8; Bit != Image.size() * 8; ++Bit) {
    std::string Bad = flipped(Image, Bit);
    vouchFor(Bad);
    llvm::Expected<TranslationUnit> Unit = deserialise(Bad, "some/unit.nvf");
    if (Unit) {
      EXPECT_EQ(llvm::toString(verify(*Unit)), "");
      EXPECT_FALSE(dump(*Unit).empty());
      continue;
    }
    ++Refused;
    std::string Why = llvm::toString(Unit.takeError());
    EXPECT_NE(Why.find("some/unit.nvf: "), std::string::npos);
    EXPECT_TRUE(Why.find("malformed at byte") != std::string::npos ||
                Why.find("out of range") != std::string::npos)
        << Why;
  }
  EXPECT_GT(Refused, 100u);
  for (size_t Length = HeaderBytes; Length != Image.size(); ++Length) {
    std::string Bad = Image.substr(0, Length);
    vouchFor(Bad);
    EXPECT_NE(messageOf(Bad), "") << Length;
  }
}

TEST(FactsFileTest, TypesInACircleAreRefused) {
  TranslationUnit Unit = everyMember();
  Unit.Types.push_back({TypeKind::Pointer, false, static_cast<uint32_t>(Unit.Types.size()), 8, 0});
  EXPECT_NE(llvm::toString(verify(Unit)), "") << "a pointer to itself has no spelling";
  Unit = everyMember();
  Unit.Records[1].Parent = 1;
  EXPECT_NE(llvm::toString(verify(Unit)), "") << "a record nested in itself has no name";
}

TEST(FactsFileTest, DeepNestingIsPrintedShort) {
  TranslationUnit Unit = everyMember();
  for (unsigned Depth = 0; Depth != 200000; ++Depth) {
    uint32_t Last = static_cast<uint32_t>(Unit.Types.size() - 1);
    Unit.Types.push_back({TypeKind::Pointer, false, Last, 8, 0});
    Unit.Records.push_back({});
    Unit.Records.back().Parent = static_cast<RecordId>(Unit.Records.size() - 2);
  }
  Unit.Types.push_back({TypeKind::Record, false, static_cast<RecordId>(Unit.Records.size() - 1)});
  Unit.Symbols[2].Type = static_cast<TypeId>(Unit.Types.size() - 2);
  ASSERT_EQ(llvm::toString(verify(Unit)), "");
  Unit.Records.resize(2000); // All of them would be a long text.
  Unit.Types.pop_back();
  EXPECT_LT(dump(Unit).size(), 4u << 20);
}

struct Damage {
  const char *What;
  void (*Do)(TranslationUnit &);
};

const Damage Damages[] = {
    {"string", [](TranslationUnit &U) { U.Records[0].Name = 8; }},
    {"no strings", [](TranslationUnit &U) { U.Strings.clear(); }},
    {"pointee", [](TranslationUnit &U) { U.Types[3].Inner = 6; }},
    {"element", [](TranslationUnit &U) { U.Types[4].Inner = None; }},
    {"record of type", [](TranslationUnit &U) { U.Types[2].Inner = 2; }},
    {"kind of type", [](TranslationUnit &U) { U.Types[0].Kind = static_cast<TypeKind>(7); }},
    {"field's type", [](TranslationUnit &U) { U.Records[0].Fields[0].Type = None; }},
    {"alias", [](TranslationUnit &U) { U.Records[0].Aliases[1] = 99; }},
    {"parent", [](TranslationUnit &U) { U.Records[1].Parent = 2; }},
    {"kind of symbol", [](TranslationUnit &U) { U.Symbols[0].Kind = static_cast<SymbolKind>(3); }},
    {"symbol's type", [](TranslationUnit &U) { U.Symbols[0].Type = 6; }},
    {"variable without a type", [](TranslationUnit &U) { U.Symbols[2].Type = None; }},
    {"function's symbol", [](TranslationUnit &U) { U.Functions[1].Symbol = 3; }},
    {"no body region", [](TranslationUnit &U) { U.Functions[1].Regions.clear(); }},
    {"region's parent", [](TranslationUnit &U) { U.Functions[1].Regions[1].Parent = 2; }},
    {"more parameters than registers",
     [](TranslationUnit &U) { U.Functions[1].ParameterCount = 4; }},
    {"register's type", [](TranslationUnit &U) { U.Functions[1].Registers[0] = 6; }},
    {"argument", [](TranslationUnit &U) { U.Functions[1].Arguments[0] = 3; }},
    {"assigned record", [](TranslationUnit &U) { U.Functions[1].Assignments[0].Record = None; }},
    {"operation", [](TranslationUnit &U) { U.Functions[1].Body[0].Code = static_cast<Op>(15); }},
    {"region", [](TranslationUnit &U) { U.Functions[1].Body[0].Region = 3; }},
    {"no destination", [](TranslationUnit &U) { U.Functions[1].Body[0].Dst = None; }},
    {"callee's type", [](TranslationUnit &U) { U.Functions[1].Body[2].Ty = 2; }},
    {"function's type", [](TranslationUnit &U) { U.Symbols[0].Type = 1; }},
    {"body of a variable", [](TranslationUnit &U) { U.Functions[1].Symbol = 1; }},
    {"destination", [](TranslationUnit &U) { U.Functions[1].Body[0].Dst = 3; }},
    {"field", [](TranslationUnit &U) { U.Functions[1].Body[0].B = 2; }},
    {"type of field", [](TranslationUnit &U) { U.Functions[1].Body[0].Ty = 1; }},
    {"source", [](TranslationUnit &U) { U.Functions[1].Body[1].B = 3; }},
    {"callee", [](TranslationUnit &U) { U.Functions[1].Body[2].A = 3; }},
    {"arguments", [](TranslationUnit &U) { U.Functions[1].Body[2].FirstArgument = UINT32_MAX; }},
    {"place", [](TranslationUnit &U) { U.Functions[1].Body[2].Where.File = 8; }},
};

TEST(FactsFileTest, IndicesOutOfRangeAreNamed) {
  for (const Damage &Each : Damages) {
    TranslationUnit Unit = everyMember();
    Each.Do(Unit);
    EXPECT_NE(llvm::toString(verify(Unit)), "") << Each.What;
    EXPECT_NE(messageOf(serialise(Unit)).find("out of range"), std::string::npos) << Each.What;
  }
}

TEST(FactsFileTest, OtherVersionsAndFilesAreRefused) {
  std::string Image = serialise(everyMember());
  llvm::support::endian::write32le(&Image[4], FormatVersion + 1);
  EXPECT_NE(messageOf(Image).find("version " + std::to_string(FormatVersion + 1)),
            std::string::npos);
  EXPECT_NE(messageOf("").find("not a facts file"), std::string::npos);
  EXPECT_NE(messageOf("\x7f"
                      "ELF and more that is long enough")
                .find("not a facts file"),
            std::string::npos);
}

/// The same on what the scanner records, and with many bits at once.
class RecordedFactsTest : public InFolder {};

TEST_F(RecordedFactsTest, SurviveRandomDamage) {
  put("list.c",
      "struct node { int key; struct { struct node *next; } link; union { int a; long b; }; };\n"
      "typedef struct node *list;\n"
      "extern void *malloc(unsigned long);\n"
      "static struct node *all, table[3] = {{1}, {2}};\n"
      "static int (*const step[2])(list);\n"
      "int load(int fd, list *to) {\n"
      "  for (int i = 0; i < fd; ++i) {\n"
      "    list n = malloc(sizeof *n);\n"
      "    if (!n) return step[0](all);\n"
      "    *n = table[i]; n->link.next = all; all = n; *to = n;\n"
      "  }\n"
      "  return 0;\n"
      "}\n");
  scan::Scanned Scanned = scan::scanUnits(
      llvm::cantFail(scan::commandLineDatabase({path("list.c")}, {"-std=c11"})).Commands, {});
  ASSERT_EQ(Scanned.Units.size(), 1u);
  std::string Image = serialise(Scanned.Units.front());
  llvm::Expected<TranslationUnit> Back = deserialise(Image, "list.nvf");
  ASSERT_TRUE(bool(Back)) << llvm::toString(Back.takeError());
  EXPECT_EQ(serialise(*Back), Image);
  solve::Options Question;
  Question.Load = {"load"};
  uint64_t Random = 1;
  for (unsigned Round = 0; Round != 5000; ++Round) {
    std::string Bad = Image;
    for (unsigned Flips = 1 + Round % 4; Flips; --Flips) {
      Random = Random * 6364136223846793005u + 1442695040888963407u;
      size_t Bits = (Image.size() - HeaderBytes) * 8;
      Bad = flipped(std::move(Bad), HeaderBytes * 8 + (Random >> 33) % Bits);
    }
    vouchFor(Bad);
    llvm::Expected<TranslationUnit> Unit = deserialise(Bad, "list.nvf");
    if (!Unit) {
      EXPECT_NE(llvm::toString(Unit.takeError()), "");
      continue;
    }
    EXPECT_FALSE(dump(*Unit).empty());
    std::vector<TranslationUnit> Units(1, std::move(*Unit));
    llvm::Expected<ScanResult> Result = solve::solve(std::move(Units), Question);
    if (!Result) // The damage may hide the load function.
      EXPECT_NE(llvm::toString(Result.takeError()), "");
  }
}

} // namespace
