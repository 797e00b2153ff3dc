// Inline assembler read: see AssemblerText.h.
#include "AssemblerText.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

constexpr StringLiteral Space = " \t";

/// The number of the first operand: "$1", "${1:P}" or "($1)".
int operandIn(StringRef Arguments) {
  for (size_t At = Arguments.find('$'); At != StringRef::npos; At = Arguments.find('$', At + 1)) {
    StringRef Rest = Arguments.drop_front(At + 1);
    Rest.consume_front("{");
    unsigned Number;
    if (!Rest.consumeInteger(10, Number))
      return int(Number);
    if (Rest.starts_with("$")) // "$$": an immediate
      ++At;
  }
  return -1;
}

/// clflush and clwb before they have these names: the byte 0x66 comes first.
bool isPrefixByte(StringRef Instruction) {
  StringRef Value = Instruction;
  if (!Value.consume_front(".byte"))
    return false;
  Value = Value.trim(Space);
  unsigned Byte;
  return !Value.getAsInteger(0, Byte) && Byte == 0x66;
}

} // namespace

SmallVector<AssemblerStep> readAssembler(StringRef Text) {
  SmallVector<AssemblerStep> Found;
  SmallVector<StringRef> Lines;
  bool Prefixed = false;
  SplitString(Text, Lines, "\n;");
  for (StringRef Line : Lines) {
    StringRef Instruction = Line.trim(Space);
    while (Instruction.consume_front("lock") && (Instruction.empty() || isSpace(Instruction[0]))) {
      Found.push_back({AssemblerKind::Fence});
      Instruction = Instruction.trim(Space);
    }
    if (Instruction.empty())
      continue;
    auto [Name, Arguments] = Instruction.split(' ');
    if (size_t Tab = Name.find('\t'); Tab != StringRef::npos)
      std::tie(Name, Arguments) = Instruction.split('\t');
    std::string Lower = Name.lower();
    int Operand = operandIn(Arguments);
    if (Lower == "clflush")
      Found.push_back({Prefixed ? AssemblerKind::Flush : AssemblerKind::FlushAtOnce, Operand});
    else if (Lower == "clflushopt" || Lower == "clwb" || (Lower == "xsaveopt" && Prefixed))
      Found.push_back({AssemblerKind::Flush, Operand});
    else if (Lower == "sfence" || Lower == "mfence" || Lower == "cpuid" || Lower == "serialize" ||
             StringRef(Lower).starts_with("xchg"))
      Found.push_back({AssemblerKind::Fence});
    else if (StringRef(Lower).starts_with("movnt") || StringRef(Lower).starts_with("vmovnt"))
      Found.push_back({AssemblerKind::Stream, Operand});
    Prefixed = isPrefixByte(Instruction);
  }
  return Found;
}

} // namespace nvmove::plugin
