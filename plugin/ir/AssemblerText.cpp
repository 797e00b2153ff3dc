// Inline assembler read: see AssemblerText.h.
#include "ir/AssemblerText.h"

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

/// The numbers of ".byte 0x66, 0x0f"; false: it is no such list.
bool readBytes(StringRef Instruction, SmallVectorImpl<uint8_t> &To) {
  if (!Instruction.consume_front_insensitive(".byte"))
    return false;
  SmallVector<StringRef> Numbers;
  Instruction.split(Numbers, ',');
  for (StringRef Number : Numbers) {
    unsigned Byte;
    To.push_back(Number.trim(Space).getAsInteger(0, Byte) ? 0 : uint8_t(Byte));
  }
  return true;
}

class Reader {
public:
  SmallVector<AssemblerStep> Found;

  void take(StringRef Instruction) {
    while (takePrefix(Instruction))
      ;
    if (Instruction.empty() || readBytes(Instruction, Bytes))
      return;
    bool Prefixed = Data16 || (!Bytes.empty() && Bytes.back() == 0x66);
    takeBytes();
    Data16 = false;
    size_t End = Instruction.find_first_of(Space);
    takeNamed(Instruction.take_front(End).lower(), operandIn(Instruction.substr(End)), Prefixed);
    DoesMore = true;
  }

  /// What the bytes so far are, where nothing that has a name completes them.
  void takeBytes() {
    for (size_t I = 0; I < Bytes.size(); ++I) {
      bool IsLong = Bytes[I] == 0x0f && I + 2 < Bytes.size() && Bytes[I + 1] == 0xae;
      if (IsLong)
        takeGroup(Bytes[I + 2], I && Bytes[I - 1] == 0x66);
      else if (Bytes[I] == 0xf0)
        takeFence();
      if (IsLong)
        I += 2;
    }
    Bytes.clear();
  }

private:
  void takeFence() { Found.push_back({AssemblerKind::Fence, -1, -1, !DoesMore}); }

  bool takePrefix(StringRef &Instruction) {
    Instruction = Instruction.trim(Space);
    size_t End = Instruction.find_first_of(Space);
    StringRef Name = Instruction.take_front(End);
    bool IsLock = Name.equals_insensitive("lock");
    if (!IsLock && !Name.equals_insensitive("data16"))
      return false;
    if (IsLock)
      takeFence();
    Data16 |= !IsLock;
    Instruction = Instruction.substr(Name.size());
    return true;
  }

  /// Of 0x0f, 0xae the third byte says which it is, and which register has the address.
  void takeGroup(uint8_t Third, bool Prefixed) {
    unsigned Mode = Third >> 6, Which = Third >> 3 & 7, Register = Third & 7;
    bool IsPlain = Mode == 0 && Register != 4 && Register != 5;
    int Known = IsPlain ? int(Register) : -1;
    if (Mode == 3 && Which >= 6)
      takeFence();
    else if (Mode != 3 && (Prefixed ? Which >= 6 : Which == 7))
      Found.push_back({Prefixed ? AssemblerKind::Flush : AssemblerKind::FlushAtOnce, -1, Known});
  }

  void takeNamed(StringRef Name, int Operand, bool Prefixed) {
    if (Name == "clflush")
      Found.push_back({Prefixed ? AssemblerKind::Flush : AssemblerKind::FlushAtOnce, Operand});
    else if (Name == "clflushopt" || Name == "clwb" || (Name == "xsaveopt" && Prefixed))
      Found.push_back({AssemblerKind::Flush, Operand});
    else if (Name == "sfence" || Name == "mfence" || Name == "cpuid" || Name == "serialize" ||
             Name.starts_with("xchg"))
      takeFence();
    else if (Name.starts_with("movnt") || Name.starts_with("vmovnt"))
      Found.push_back({AssemblerKind::Stream, Operand});
  }

  SmallVector<uint8_t> Bytes; ///< that were written down as such
  bool Data16 = false, DoesMore = false;
};

} // namespace

SmallVector<AssemblerStep> readAssembler(StringRef Text) {
  Reader R;
  SmallVector<StringRef> Lines;
  SplitString(Text, Lines, "\n;");
  for (StringRef Line : Lines)
    R.take(Line);
  R.takeBytes();
  return std::move(R.Found);
}

} // namespace nvmove::plugin
