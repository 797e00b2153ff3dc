// Reading and writing .nvf files; docs/internals/facts-format.md is the specification.
#include "facts/FactsFile.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

#include <xxhash.h>

namespace nvmove::facts {

namespace {

constexpr llvm::StringLiteral Magic = "NVMF";
constexpr size_t HeaderBytes = 4 + 4 + 8; // magic, version, checksum of what follows

/// What a struct has in a file is said once, by fields(). A writer and a reader are the two that can be asked
/// to go through it: each puts or takes what it is handed.
class Writer {
public:
  std::string Out;

  template <typename T> void number(const T &Given) {
    uint64_t Value = static_cast<uint64_t>(Given);
    while (Value >= 0x80) {
      Out.push_back(static_cast<char>(Value | 0x80));
      Value >>= 7;
    }
    Out.push_back(static_cast<char>(Value));
  }
  /// An index that may be None or NullRegister: stored plus two.
  void index(uint32_t Value) { number(static_cast<uint32_t>(Value + 2)); }
  void signedNumber(int64_t Value) {
    number((static_cast<uint64_t>(Value) << 1) ^ static_cast<uint64_t>(Value >> 63));
  }
  /// As the difference to what the instruction before has.
  void difference(uint32_t Value, uint32_t Last) {
    signedNumber(static_cast<int64_t>(Value) - static_cast<int64_t>(Last));
  }
  void text(llvm::StringRef Value) {
    number(Value.size());
    Out.append(Value.begin(), Value.end());
  }
  /// A bit each, from the lowest on.
  void flags(std::initializer_list<bool *> Each) {
    uint64_t Bits = 0, Bit = 1;
    for (const bool *Flag : Each) {
      Bits |= *Flag ? Bit : 0;
      Bit <<= 1;
    }
    number(Bits);
  }
  /// \p BytesEach: that each takes at least in the file.
  template <typename T, typename F> void list(std::vector<T> &Things, size_t, F Each) {
    number(Things.size());
    for (T &Thing : Things)
      Each(Thing);
  }
};

class Reader {
public:
  explicit Reader(llvm::StringRef Data) : Begin(Data.begin()), At(Data.begin()), End(Data.end()) {}

  bool Failed = false;

  template <typename T> void number(T &Value) { Value = static_cast<T>(next()); }
  void index(uint32_t &Value) { Value = static_cast<uint32_t>(next()) - 2; }
  void signedNumber(int64_t &Value) {
    uint64_t Bits = next();
    Value = static_cast<int64_t>((Bits >> 1) ^ (~(Bits & 1) + 1));
  }
  void difference(uint32_t &Value, uint32_t Last) {
    int64_t More = 0;
    signedNumber(More);
    Value = static_cast<uint32_t>(Last + static_cast<uint64_t>(More));
  }
  void text(std::string &Value) {
    size_t Length = count(1);
    Value.assign(At, Length);
    At += Length;
  }
  void flags(std::initializer_list<bool *> Each) {
    uint64_t Bits = next();
    for (bool *Flag : Each) {
      *Flag = Bits & 1;
      Bits >>= 1;
    }
  }
  template <typename T, typename F> void list(std::vector<T> &Things, size_t BytesEach, F Each) {
    Things.resize(count(BytesEach));
    for (T &Thing : Things)
      Each(Thing);
  }
  size_t position() const { return At - Begin; }
  bool atEnd() const { return At == End; }

private:
  uint64_t next() {
    uint64_t Value = 0;
    for (unsigned Shift = 0; At != End && Shift < 64; Shift += 7) {
      uint8_t Byte = static_cast<uint8_t>(*At++);
      Value |= static_cast<uint64_t>(Byte & 0x7f) << Shift;
      if (!(Byte & 0x80))
        return Value;
    }
    return fail();
  }
  /// Of things that can be allocated: the file has room for them.
  size_t count(size_t BytesEach) {
    uint64_t Value = next();
    return Value > static_cast<uint64_t>(End - At) / BytesEach ? fail() : Value;
  }
  uint64_t fail() {
    Failed = true;
    At = End;
    return 0;
  }

  const char *Begin, *At, *End;
};

template <typename Archive> void fields(Archive &A, Location &Where) {
  A.number(Where.File);
  A.number(Where.Line);
  A.number(Where.Column);
}

template <typename Archive> void fields(Archive &A, Type &T) {
  uint64_t Head = static_cast<uint64_t>(T.Kind) | (T.ConstPointee ? 8 : 0);
  A.number(Head);
  T.Kind = static_cast<TypeKind>(Head & 7);
  T.ConstPointee = Head & 8;
  A.index(T.Inner);
  A.number(T.Size);
  A.number(T.Spelling);
}

template <typename Archive> void fields(Archive &A, Record &Made) {
  A.number(Made.Name);
  A.flags({&Made.Union, &Made.Complete, &Made.System});
  A.index(Made.Parent);
  fields(A, Made.Where);
  A.number(Made.Size);
  A.list(Made.Aliases, 1, [&](StringId &Alias) { A.number(Alias); });
  A.list(Made.Fields, 3, [&](Field &Each) {
    A.number(Each.Name);
    A.index(Each.Type);
    A.number(Each.Offset);
  });
}

template <typename Archive> void fields(Archive &A, Symbol &Made) {
  A.number(Made.Kind);
  A.flags({&Made.External, &Made.Defined, &Made.Weak, &Made.NoReturn, &Made.Formats, &Made.System,
           &Made.Constant});
  A.number(Made.Name);
  A.index(Made.Type);
  fields(A, Made.Where);
}

/// Instructions are most of a file: a mask says which members are not at their default, and places
/// are differences to the instruction before.
enum Mask : uint64_t {
  HasDst = 1,
  HasA = 2,
  HasB = 4,
  HasType = 8,
  HasDelta = 16,
  HasArguments = 32,
  HasFile = 64,
  IsImplicit = 128,
};

uint64_t maskOf(const Instruction &I, const Instruction &Last) {
  return (I.Dst != None ? HasDst : 0) | (I.A != None ? HasA : 0) | (I.B != None ? HasB : 0) |
         (I.Ty != None ? HasType : 0) | (I.Delta ? HasDelta : 0) |
         (I.ArgumentCount ? HasArguments : 0) | (I.Where.File != Last.Where.File ? HasFile : 0) |
         (I.Implicit ? IsImplicit : 0);
}

template <typename Archive> void fields(Archive &A, Instruction &I, const Instruction &Last) {
  uint64_t Head = static_cast<uint64_t>(I.Code) | maskOf(I, Last) << 4;
  A.number(Head);
  uint64_t Set = Head >> 4;
  I.Code = static_cast<Op>(Head & 15);
  I.Implicit = Set & IsImplicit;
  A.difference(I.Region, Last.Region);
  if (Set & HasDst)
    A.index(I.Dst);
  if (Set & HasA)
    A.index(I.A);
  if (Set & HasB)
    A.index(I.B);
  if (Set & HasType)
    A.index(I.Ty);
  if (Set & HasDelta)
    A.signedNumber(I.Delta);
  if (Set & HasArguments) {
    A.number(I.FirstArgument);
    A.number(I.ArgumentCount);
  }
  if (Set & HasFile)
    A.number(I.Where.File);
  else
    I.Where.File = Last.Where.File;
  A.difference(I.Where.Line, Last.Where.Line);
  A.number(I.Where.Column);
}

template <typename Archive> void fields(Archive &A, Function &Made) {
  A.index(Made.Symbol);
  A.number(Made.ParameterCount);
  A.flags({&Made.Variadic});
  A.index(Made.Result);
  A.list(Made.Registers, 1, [&](TypeId &Each) { A.index(Each); });
  A.list(Made.Regions, 2, [&](Region &Each) {
    A.number(Each.Kind);
    A.index(Each.Parent);
  });
  A.list(Made.Arguments, 1, [&](Register &Each) { A.index(Each); });
  A.list(Made.Assignments, 5, [&](Assignment &Each) {
    A.index(Each.Record);
    A.flags({&Each.ByLibrary, &Each.ByInitialiser});
    fields(A, Each.Where);
  });
  Instruction Last;
  A.list(Made.Body, 4, [&](Instruction &Each) {
    fields(A, Each, Last);
    Last = Each;
  });
}

template <typename Archive> void fields(Archive &A, TranslationUnit &Unit) {
  auto Each = [&](auto &Thing) { fields(A, Thing); };
  A.text(Unit.MainFile);
  A.text(Unit.Output);
  A.number(Unit.Lines);
  A.list(Unit.Strings, 1, [&](std::string &Text) { A.text(Text); });
  A.list(Unit.Types, 4, Each);
  A.list(Unit.Records, 9, Each);
  A.list(Unit.Symbols, 7, Each);
  A.list(Unit.Functions, 9, Each);
}

llvm::Error damaged(llvm::StringRef Path, const llvm::Twine &What) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 Path + ": " + What +
                                     "; make it again with 'nvmove scan --emit-facts'");
}

} // namespace

std::string serialise(const TranslationUnit &Unit) {
  Writer W;
  fields(W, const_cast<TranslationUnit &>(Unit)); // a writer changes nothing
  std::string Image(HeaderBytes, '\0');
  std::copy(Magic.begin(), Magic.end(), Image.begin());
  llvm::support::endian::write32le(&Image[4], FormatVersion);
  llvm::support::endian::write64le(&Image[8], XXH3_64bits(W.Out.data(), W.Out.size()));
  return Image + W.Out;
}

llvm::Expected<TranslationUnit> deserialise(llvm::StringRef Image, llvm::StringRef Path) {
  if (Image.size() < HeaderBytes || !Image.starts_with(Magic))
    return damaged(Path, "not a facts file (no NVMF at its start)");
  uint32_t Version = llvm::support::endian::read32le(Image.data() + 4);
  if (Version != FormatVersion)
    return damaged(Path, "facts format version " + llvm::Twine(Version) + ", this nvmove reads " +
                             llvm::Twine(FormatVersion));
  llvm::StringRef Payload = Image.drop_front(HeaderBytes);
  if (llvm::support::endian::read64le(Image.data() + 8) !=
      XXH3_64bits(Payload.data(), Payload.size()))
    return damaged(Path, "checksum mismatch: the file is cut or damaged");
  Reader R(Payload);
  TranslationUnit Unit;
  fields(R, Unit);
  if (R.Failed || !R.atEnd())
    return damaged(Path, "malformed at byte " + llvm::Twine(HeaderBytes + R.position()));
  if (llvm::Error Bad = verify(Unit))
    return damaged(Path, llvm::toString(std::move(Bad)));
  return Unit;
}

} // namespace nvmove::facts
