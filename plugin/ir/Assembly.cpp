// Instructions of inline assembler that write what their operands name: see Assembly.h.
#include "ir/Assembly.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

// With a suffix for the size, or without.
constexpr StringLiteral Sized[] = {
    "adc",  "add", "and",   "bsf",   "bsr",  "bswap",  "bt",      "btc",    "btr",  "bts",
    "cmp",  "dec", "div",   "idiv",  "imul", "in",     "inc",     "mov",    "mul",  "neg",
    "not",  "or",  "out",   "pop",   "popf", "popcnt", "push",    "pushf",  "rcl",  "rcr",
    "rol",  "ror", "sal",   "sar",   "sbb",  "shl",    "shld",    "shr",    "shrd", "sub",
    "test", "xor", "tzcnt", "lzcnt", "xchg", "xadd",   "cmpxchg", "movabs",
};
// As they are written.
constexpr StringLiteral Plain[] = {
    "cbtw",  "clc",   "cld",   "cltd",   "cltq",   "cmc",    "cmpxchg16b", "cmpxchg8b",
    "cpuid", "cqto",  "cwtd",  "cwtl",   "lahf",   "lfence", "mfence",     "nop",
    "pause", "rdmsr", "rdpmc", "rdtsc",  "rdtscp", "sahf",   "serialize",  "sfence",
    "stc",   "std",   "wrmsr", "xgetbv", "xsetbv",
};
// Behind cmov and set.
constexpr StringLiteral Conditions[] = {
    "a",  "ae", "b",   "be", "c",   "e",  "g",  "ge", "l",  "le", "na", "nae", "nb", "nbe", "nc",
    "ne", "ng", "nge", "nl", "nle", "no", "np", "ns", "nz", "o",  "p",  "pe",  "po", "s",   "z",
};

bool isSized(StringRef Name) {
  if (is_contained(Sized, Name))
    return true;
  return !Name.empty() && StringRef("bwlq").contains(Name.back()) &&
         is_contained(Sized, Name.drop_back());
}

/// cmov may have a suffix for the size.
bool isConditional(StringRef Name) {
  if (Name.consume_front("set"))
    return is_contained(Conditions, Name);
  return Name.consume_front("cmov") && (is_contained(Conditions, Name) ||
                                        (!Name.empty() && StringRef("wlq").contains(Name.back()) &&
                                         is_contained(Conditions, Name.drop_back())));
}

/// A jump, other than to a label of the assembler's own, is to code that may do anything.
bool staysInside(StringRef Name, StringRef Target) {
  bool IsNumbered = Target.size() > 1 && StringRef("bf").contains(Target.back()) &&
                    all_of(Target.drop_back(), isDigit);
  return Name.starts_with("j") && (IsNumbered || Target.contains(":l}"));
}

bool isPlain(StringRef Instruction) {
  StringRef Name = getToken(Instruction, " \t").first;
  StringRef Operands = Instruction.drop_front(Name.size()).trim();
  if (Name.empty())
    return true;
  if (Name.ends_with(":")) // a label
    return isPlain(Operands);
  if (Name == "lock" || Name == "rep")
    return isPlain(Operands);
  return isSized(Name) || is_contained(Plain, Name) || staysInside(Name, Operands) ||
         isConditional(Name);
}

/// Where a '#' may stand in a text, or in a comment that does not end with the line, nobody says
/// what is a comment.
bool isClear(StringRef Text) {
  return Text.find_first_of("'\"") == StringRef::npos && !Text.contains("/*");
}

/// The instructions, without comments; of text that is clear.
SmallVector<StringRef> instructionsOf(StringRef Text) {
  SmallVector<StringRef> Lines, Found;
  Text.split(Lines, '\n');
  for (StringRef Line : Lines) {
    SmallVector<StringRef> Parts;
    Line.split('#').first.split(Parts, ';');
    for (StringRef Part : Parts)
      if (!Part.trim().empty())
        Found.push_back(Part.trim());
  }
  return Found;
}

} // namespace

bool isEmptyAssembly(const InlineAsm &Code) {
  return isClear(Code.getAsmString()) && instructionsOf(Code.getAsmString()).empty();
}

bool mayFormAddress(const InlineAsm &Code) {
  // push and pop write where the stack pointer leads, which is no stack of the program's when the
  // assembler has set it. An operand may be an address by its constraint.
  bool Named = any_of(Code.ParseConstraints(), [](const InlineAsm::ConstraintInfo &C) {
    return any_of(C.Codes, [](StringRef Each) { return Each == "p" || Each.ends_with("sp}"); });
  });
  return Named || !isClear(Code.getAsmString()) ||
         any_of(instructionsOf(Code.getAsmString()), [](StringRef Each) {
           return !isPlain(Each) || Each.find_first_of("([") != StringRef::npos ||
                  Each.contains(":a}") || Each.contains("sp");
         });
}

} // namespace nvmove::plugin
