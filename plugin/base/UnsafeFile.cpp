// The parser of .unsafe files, by recursive descent: see UnsafeFile.h.
#include "base/UnsafeFile.h"

#include "base/Settings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

// Functions of the expression language.
struct NamedOperation {
  StringRef Name;
  UnsafeExpr::Kind What;
  unsigned Operands;
  unsigned Plain; ///< that many operands, from the first, must be an argument itself
};
const NamedOperation Operations[] = {
    {"min", UnsafeExpr::Min, 2, 0},         {"or", UnsafeExpr::Either, 2, 0},
    {"printed", UnsafeExpr::Printed, 1, 1}, {"strlen", UnsafeExpr::Strlen, 1, 0},
    {"strnlen", UnsafeExpr::Strnlen, 2, 0}, {"vprinted", UnsafeExpr::VPrinted, 2, 2},
    {"wcslen", UnsafeExpr::Wcslen, 1, 0},
};

// Formats of input, narrow and wide.
struct NamedInput {
  StringRef Name;
  UnsafeRange::Kind What;
  uint64_t Character; ///< bytes
};
const NamedInput Inputs[] = {
    {"scanf", UnsafeRange::Scanf, 1},
    {"vscanf", UnsafeRange::VScanf, 1},
    {"vwscanf", UnsafeRange::VScanf, sizeof(wchar_t)},
    {"wscanf", UnsafeRange::Scanf, sizeof(wchar_t)},
};

/// C asks of compilers to take 127; x86-64 has no bound.
constexpr uint64_t ArgumentsMax = UINT16_MAX;

/// Parses one line. The first problem found is kept; after it everything parses as nothing.
class LineParser {
public:
  explicit LineParser(StringRef Line) : Line(Line) {}

  UnsafeFunction parse() {
    Function.Name = word().str();
    if (Function.Name.empty())
      fail("expected the name of a function");
    expect("=");
    expect("{");
    do
      property();
    while (accept(","));
    expect("}");
    if (!rest().empty())
      fail("unexpected text after '}'");
    if (!is_contained(Seen, "nargs"))
      fail("no 'nargs'");
    Function.Keeps &= !SawFormat;
    return std::move(Function);
  }

  std::string Problem;
  size_t ProblemAt = 0;

private:
  void property() {
    rest();
    size_t Begin = At;
    StringRef Name = word();
    if (is_contained(Seen, Name))
      failAt(Begin, "'" + Name.str() + "' is given twice");
    Seen.push_back(Name);
    if (Name == "nargs") {
      expect(":");
      uint64_t Count = number(ArgumentsMax, "more arguments than a call can have");
      Function.Arguments = static_cast<unsigned>(Count);
      Function.AtLeast = accept("+");
    } else if (Name == "wr_set") {
      set(Function.Writes);
    } else if (Name == "rd_set") {
      set(Function.Reads);
    } else if (Name == "keeps") {
      Function.Keeps = true;
    } else {
      fail("expected nargs, wr_set, rd_set or keeps");
    }
  }

  void set(std::vector<UnsafeRange> &Ranges) {
    expect(":");
    expect("{");
    if (accept("}"))
      return;
    do
      Ranges.push_back(range());
    while (accept(","));
    expect("}");
  }

  UnsafeRange range() {
    UnsafeRange R;
    if (accept("[")) {
      R.Address = expression();
      expect(",");
      R.Size = expression();
      if (R.Size.What == UnsafeExpr::Number && !R.Size.Value)
        fail("a range of no bytes");
      expect("]");
      return R;
    }
    StringRef Name = word();
    expect("(");
    R.Address = Name == "each" ? expression() : argument();
    if (Name == "each") {
      R.What = UnsafeRange::Each;
      expect(",");
      R.UntilNull = accept("null");
      if (!R.UntilNull)
        R.Size = expression();
      expect(",");
      expect("#");
      R.Stride = number();
      if (!R.Stride)
        fail("elements of no bytes");
      expect(",");
      ++Depth;
      if (Problem.empty())
        R.Inside.push_back(range());
      --Depth;
    } else if (const NamedInput *Input = find_if(Inputs, [&](auto &I) { return I.Name == Name; });
               Input != std::end(Inputs)) {
      input(R, *Input);
    } else if (Name == "counts") {
      R.What = UnsafeRange::Percent;
    } else if (Name == "later") {
      R.What = UnsafeRange::Later;
      R.Bounded = accept(",");
      if (R.Bounded)
        R.Size = argument();
    } else {
      fail("expected [ADDRESS,SIZE], each(...), scanf(...) or one of its kin, counts(...) or "
           "later(...)");
    }
    expect(")");
    return R;
  }

  void input(UnsafeRange &R, const NamedInput &Input) {
    SawFormat = true;
    R.What = Input.What;
    R.Character = Input.Character;
    if (R.What == UnsafeRange::VScanf) {
      expect(",");
      R.List = argument();
    }
    R.Bounded = accept(",");
    if (R.Bounded)
      R.Size = expression();
  }

  UnsafeExpr expression() {
    UnsafeExpr Left = product();
    while (Problem.empty())
      if (accept("+"))
        Left = join(UnsafeExpr::Add, std::move(Left), product());
      else if (accept("-"))
        Left = join(UnsafeExpr::Subtract, std::move(Left), product());
      else
        break;
    return Left;
  }

  UnsafeExpr product() {
    UnsafeExpr Left = factor();
    while (Problem.empty() && accept("*"))
      Left = join(UnsafeExpr::Multiply, std::move(Left), factor());
    return Left;
  }

  UnsafeExpr factor() {
    UnsafeExpr E;
    if (!Problem.empty())
      return E;
    if (accept("(")) {
      E = expression();
      expect(")");
    } else if (accept("#")) {
      E.Value = number();
    } else if (accept("*")) {
      constexpr uint64_t WordSize = 8;
      E.What = UnsafeExpr::Load;
      E.Operands.push_back(factor());
      E.Value = accept(":") ? number() : WordSize;
      if (E.Value != 1 && E.Value != 2 && E.Value != 4 && E.Value != WordSize)
        fail("a load is of 1, 2, 4 or 8 bytes");
    } else {
      named(E);
    }
    return E;
  }

  UnsafeExpr argument() {
    UnsafeExpr E = expression();
    if (E.What != UnsafeExpr::Argument)
      fail("expected argN");
    return E;
  }

  void named(UnsafeExpr &E) {
    StringRef Name = word(), Index = Name;
    if (Name == "elem") {
      E.What = UnsafeExpr::Element;
      if (!Depth)
        fail("'elem' is known only inside each(...)");
      return;
    }
    if (Index.consume_front("arg") && !Index.getAsInteger(10, E.Value)) {
      E.What = UnsafeExpr::Argument;
      if (E.Value >= Function.Arguments)
        fail("'" + Name.str() + "' of a function with " + utostr(Function.Arguments) +
             " arguments (nargs comes first)");
      return;
    }
    for (const NamedOperation &Operation : Operations)
      if (Operation.Name == Name) {
        E.What = Operation.What;
        SawFormat |= E.What == UnsafeExpr::Printed || E.What == UnsafeExpr::VPrinted;
        expect("(");
        for (unsigned N = 0; N < Operation.Operands; ++N) {
          if (N)
            expect(",");
          E.Operands.push_back(N < Operation.Plain ? argument() : expression());
        }
        return expect(")");
      }
    fail("expected #NUMBER, argN, elem, *, ( or a function of sizes");
  }

  static UnsafeExpr join(UnsafeExpr::Kind What, UnsafeExpr Left, UnsafeExpr Right) {
    UnsafeExpr E;
    E.What = What;
    E.Operands.push_back(std::move(Left));
    E.Operands.push_back(std::move(Right));
    return E;
  }

  StringRef rest() {
    At = Line.find_first_not_of(" \t\r", At);
    At = std::min(At, Line.size());
    return Line.substr(At);
  }

  StringRef word() {
    StringRef Word = rest().take_while([](char C) { return isAlnum(C) || C == '_' || C == '$'; });
    At += Word.size();
    return Word;
  }

  uint64_t number(uint64_t Max = UINT64_MAX, const char *TooLarge = "") {
    uint64_t Value = 0;
    rest();
    size_t Begin = At;
    StringRef Digits = word();
    bool IsHexadecimal = Digits.consume_front_insensitive("0x");
    if (!IsHexadecimal && Digits.size() > 1 && Digits.starts_with("0"))
      failAt(Begin, "a number that begins with 0 is neither decimal nor, with 0x, hexadecimal");
    else if (Digits.getAsInteger(IsHexadecimal ? 16 : 10, Value))
      failAt(Begin, "expected a number");
    else if (Value > Max)
      failAt(Begin, TooLarge);
    return Value;
  }

  bool accept(StringRef Text) {
    if (!Problem.empty() || !rest().starts_with(Text))
      return false;
    At += Text.size();
    return true;
  }

  void expect(StringRef Text) {
    if (!accept(Text))
      fail("expected '" + Text.str() + "'");
  }

  void fail(const std::string &What) {
    if (!Problem.empty())
      return;
    rest();
    Problem = What;
    ProblemAt = At;
  }

  void failAt(size_t Where, const std::string &What) {
    At = Where;
    fail(What);
  }

  StringRef Line;
  size_t At = 0;
  SmallVector<StringRef> Seen; ///< properties
  bool SawFormat = false;      ///< of a printf or scanf, which may lock the locale
  unsigned Depth = 0;          ///< of `each` around
  UnsafeFunction Function;
};

} // namespace

Error UnsafeTable::addFile(StringRef Path) {
  auto Buffer = MemoryBuffer::getFile(Path, /*IsText=*/true);
  if (!Buffer)
    return createStringError(Buffer.getError(),
                             Path + ": cannot be read: " + Buffer.getError().message());
  return addText((*Buffer)->getBuffer(), Path);
}

Error UnsafeTable::addText(StringRef Text, StringRef Path) {
  unsigned Number = 0;
  while (!Text.empty()) {
    auto [Line, Remaining] = Text.split('\n');
    Text = Remaining;
    ++Number;
    StringRef Trimmed = Line.trim();
    if (Trimmed.empty() || Trimmed.starts_with("//") || Trimmed.starts_with("# ") || Trimmed == "#")
      continue;
    LineParser Parser(Line);
    UnsafeFunction F = Parser.parse();
    if (!Parser.Problem.empty())
      return createStringError(Path + ":" + Twine(Number) + ":" + Twine(Parser.ProblemAt + 1) +
                               ": " + Parser.Problem);
    F.Place = (Path + ":" + Twine(Number)).str();
    std::string Name = F.Name;
    Functions[Name] = std::move(F);
  }
  return Error::success();
}

bool isInstalled(const UnsafeFunction &F) {
  return settings().InstalledUnsafe.contains(StringRef(F.Place).rsplit(':').first);
}

const UnsafeFunction *UnsafeTable::nearest(StringRef Name,
                                           function_ref<bool(StringRef)> IsDeclared) const {
  const UnsafeFunction *Found = nullptr;
  unsigned Limit = std::min<unsigned>(2, static_cast<unsigned>(Name.size()) / 4), Least = Limit + 1;
  for (const auto &Entry : Functions) {
    unsigned Distance = Name.edit_distance(Entry.first(), true, Limit);
    bool IsNearer = Distance < Least || (Found && Distance == Least && Entry.first() < Found->Name);
    if (!IsNearer || IsDeclared(Entry.first()) || isInstalled(Entry.second))
      continue; // what nvmove describes itself is not misspelt
    Found = &Entry.second;
    Least = Distance;
  }
  return Found;
}

const UnsafeFunction *UnsafeTable::find(const Function &F) const {
  if (!F.isDeclaration() || F.isIntrinsic())
    return nullptr;
  StringRef Name = F.getName();
  Name.consume_front("\1"); // an asm label: the name as the object file has it
  return named(Name);
}

const UnsafeFunction *UnsafeTable::named(StringRef Name) const {
  auto Found = Functions.find(Name);
  return Found == Functions.end() ? nullptr : &Found->second;
}

} // namespace nvmove::plugin
