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

class Writer {
public:
  std::string Out;

  void number(uint64_t Value) {
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
  void text(llvm::StringRef Value) {
    number(Value.size());
    Out.append(Value.begin(), Value.end());
  }
  void location(const Location &Where) {
    number(Where.File);
    number(Where.Line);
    number(Where.Column);
  }
};

class Reader {
public:
  explicit Reader(llvm::StringRef Data) : Begin(Data.begin()), At(Data.begin()), End(Data.end()) {}

  bool Failed = false;

  uint64_t number() {
    uint64_t Value = 0;
    for (unsigned Shift = 0; At != End && Shift < 64; Shift += 7) {
      uint8_t Byte = static_cast<uint8_t>(*At++);
      Value |= static_cast<uint64_t>(Byte & 0x7f) << Shift;
      if (!(Byte & 0x80))
        return Value;
    }
    return fail();
  }
  uint32_t index() { return static_cast<uint32_t>(number()) - 2; }
  int64_t signedNumber() {
    uint64_t Value = number();
    return static_cast<int64_t>((Value >> 1) ^ (~(Value & 1) + 1));
  }
  /// A count of things that take at least \p BytesEach in the file, so that it can be allocated.
  size_t count(size_t BytesEach = 1) {
    uint64_t Value = number();
    if (Value > static_cast<uint64_t>(End - At) / BytesEach)
      return fail();
    return Value;
  }
  llvm::StringRef text() {
    size_t Length = count();
    llvm::StringRef Value(At, Length);
    At += Length;
    return Value;
  }
  Location location() {
    Location Where;
    Where.File = static_cast<uint32_t>(number());
    Where.Line = static_cast<uint32_t>(number());
    Where.Column = static_cast<uint32_t>(number());
    return Where;
  }
  size_t position() const { return At - Begin; }
  bool atEnd() const { return At == End; }

private:
  uint64_t fail() {
    Failed = true;
    At = End;
    return 0;
  }

  const char *Begin, *At, *End;
};

void write(Writer &W, const Type &T) {
  W.number(static_cast<uint64_t>(T.Kind) | (T.ConstPointee ? 8 : 0));
  W.index(T.Inner);
  W.number(T.Size);
  W.number(T.Spelling);
}

void read(Reader &R, Type &T) {
  uint64_t Kind = R.number();
  T.Kind = static_cast<TypeKind>(Kind & 7);
  T.ConstPointee = Kind & 8;
  T.Inner = R.index();
  T.Size = R.number();
  T.Spelling = static_cast<StringId>(R.number());
}

void write(Writer &W, const Record &Made) {
  W.number(Made.Name);
  W.number((Made.Union ? 1 : 0) | (Made.Complete ? 2 : 0) | (Made.System ? 4 : 0));
  W.index(Made.Parent);
  W.location(Made.Where);
  W.number(Made.Size);
  W.number(Made.Aliases.size());
  for (StringId Alias : Made.Aliases)
    W.number(Alias);
  W.number(Made.Fields.size());
  for (const Field &Each : Made.Fields) {
    W.number(Each.Name);
    W.index(Each.Type);
    W.number(Each.Offset);
  }
}

void read(Reader &R, Record &Made) {
  Made.Name = static_cast<StringId>(R.number());
  uint64_t Flags = R.number();
  Made.Union = Flags & 1;
  Made.Complete = Flags & 2;
  Made.System = Flags & 4;
  Made.Parent = R.index();
  Made.Where = R.location();
  Made.Size = R.number();
  Made.Aliases.resize(R.count());
  for (StringId &Alias : Made.Aliases)
    Alias = static_cast<StringId>(R.number());
  Made.Fields.resize(R.count(3));
  for (Field &Each : Made.Fields) {
    Each.Name = static_cast<StringId>(R.number());
    Each.Type = R.index();
    Each.Offset = R.number();
  }
}

void write(Writer &W, const Symbol &Made) {
  W.number(static_cast<uint64_t>(Made.Kind));
  W.number((Made.External ? 1 : 0) | (Made.Defined ? 2 : 0) | (Made.Weak ? 4 : 0) |
           (Made.NoReturn ? 8 : 0) | (Made.Formats ? 16 : 0) | (Made.System ? 32 : 0) |
           (Made.Constant ? 64 : 0));
  W.number(Made.Name);
  W.index(Made.Type);
  W.location(Made.Where);
}

void read(Reader &R, Symbol &Made) {
  Made.Kind = static_cast<SymbolKind>(R.number());
  uint64_t Flags = R.number();
  Made.External = Flags & 1;
  Made.Defined = Flags & 2;
  Made.Weak = Flags & 4;
  Made.NoReturn = Flags & 8;
  Made.Formats = Flags & 16;
  Made.System = Flags & 32;
  Made.Constant = Flags & 64;
  Made.Name = static_cast<StringId>(R.number());
  Made.Type = R.index();
  Made.Where = R.location();
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

void write(Writer &W, const Instruction &I, const Instruction &Last) {
  uint64_t Set = (I.Dst != None ? HasDst : 0) | (I.A != None ? HasA : 0) |
                 (I.B != None ? HasB : 0) | (I.Ty != None ? HasType : 0) |
                 (I.Delta ? HasDelta : 0) | (I.ArgumentCount ? HasArguments : 0) |
                 (I.Where.File != Last.Where.File ? HasFile : 0) | (I.Implicit ? IsImplicit : 0);
  W.number(static_cast<uint64_t>(I.Code) | Set << 4);
  W.signedNumber(static_cast<int64_t>(I.Region) - static_cast<int64_t>(Last.Region));
  if (Set & HasDst)
    W.index(I.Dst);
  if (Set & HasA)
    W.index(I.A);
  if (Set & HasB)
    W.index(I.B);
  if (Set & HasType)
    W.index(I.Ty);
  if (Set & HasDelta)
    W.signedNumber(I.Delta);
  if (Set & HasArguments) {
    W.number(I.FirstArgument);
    W.number(I.ArgumentCount);
  }
  if (Set & HasFile)
    W.number(I.Where.File);
  W.signedNumber(static_cast<int64_t>(I.Where.Line) - static_cast<int64_t>(Last.Where.Line));
  W.number(I.Where.Column);
}

void read(Reader &R, Instruction &I, const Instruction &Last) {
  uint64_t Head = R.number();
  uint64_t Set = Head >> 4;
  I.Code = static_cast<Op>(Head & 15);
  I.Implicit = Set & IsImplicit;
  I.Region = static_cast<uint32_t>(Last.Region + static_cast<uint64_t>(R.signedNumber()));
  if (Set & HasDst)
    I.Dst = R.index();
  if (Set & HasA)
    I.A = R.index();
  if (Set & HasB)
    I.B = R.index();
  if (Set & HasType)
    I.Ty = R.index();
  if (Set & HasDelta)
    I.Delta = R.signedNumber();
  if (Set & HasArguments) {
    I.FirstArgument = static_cast<uint32_t>(R.number());
    I.ArgumentCount = static_cast<uint16_t>(R.number());
  }
  I.Where.File = Set & HasFile ? static_cast<StringId>(R.number()) : Last.Where.File;
  I.Where.Line = static_cast<uint32_t>(Last.Where.Line + static_cast<uint64_t>(R.signedNumber()));
  I.Where.Column = static_cast<uint32_t>(R.number());
}

void write(Writer &W, const Function &Made) {
  W.index(Made.Symbol);
  W.number(Made.ParameterCount);
  W.number(Made.Variadic);
  W.index(Made.Result);
  W.number(Made.Registers.size());
  for (TypeId Each : Made.Registers)
    W.index(Each);
  W.number(Made.Regions.size());
  for (const Region &Each : Made.Regions) {
    W.number(static_cast<uint64_t>(Each.Kind));
    W.index(Each.Parent);
  }
  W.number(Made.Arguments.size());
  for (Register Each : Made.Arguments)
    W.index(Each);
  W.number(Made.Assignments.size());
  for (const Assignment &Each : Made.Assignments) {
    W.index(Each.Record);
    W.number((Each.ByLibrary ? 1 : 0) | (Each.ByInitialiser ? 2 : 0));
    W.location(Each.Where);
  }
  W.number(Made.Body.size());
  Instruction Last;
  for (const Instruction &Each : Made.Body) {
    write(W, Each, Last);
    Last = Each;
  }
}

void read(Reader &R, Function &Made) {
  Made.Symbol = R.index();
  Made.ParameterCount = static_cast<uint32_t>(R.number());
  Made.Variadic = R.number() & 1;
  Made.Result = R.index();
  Made.Registers.resize(R.count());
  for (TypeId &Each : Made.Registers)
    Each = R.index();
  Made.Regions.resize(R.count(2));
  for (Region &Each : Made.Regions) {
    Each.Kind = static_cast<RegionKind>(R.number());
    Each.Parent = R.index();
  }
  Made.Arguments.resize(R.count());
  for (Register &Each : Made.Arguments)
    Each = R.index();
  Made.Assignments.resize(R.count(5));
  for (Assignment &Each : Made.Assignments) {
    Each.Record = R.index();
    uint64_t Flags = R.number();
    Each.ByLibrary = Flags & 1;
    Each.ByInitialiser = Flags & 2;
    Each.Where = R.location();
  }
  Made.Body.resize(R.count(4));
  Instruction Last;
  for (Instruction &Each : Made.Body) {
    read(R, Each, Last);
    Last = Each;
  }
}

template <typename T> void writeAll(Writer &W, const std::vector<T> &Things) {
  W.number(Things.size());
  for (const T &Each : Things)
    write(W, Each);
}

template <typename T> void readAll(Reader &R, std::vector<T> &Things, size_t BytesEach) {
  Things.resize(R.count(BytesEach));
  for (T &Each : Things)
    read(R, Each);
}

llvm::Error damaged(llvm::StringRef Path, const llvm::Twine &What) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 Path + ": " + What +
                                     "; make it again with 'nvmove scan --emit-facts'");
}

} // namespace

std::string serialise(const TranslationUnit &Unit) {
  Writer W;
  W.text(Unit.MainFile);
  W.text(Unit.Output);
  W.number(Unit.Lines);
  W.number(Unit.Strings.size());
  for (const std::string &Each : Unit.Strings)
    W.text(Each);
  writeAll(W, Unit.Types);
  writeAll(W, Unit.Records);
  writeAll(W, Unit.Symbols);
  writeAll(W, Unit.Functions);
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
  Unit.MainFile = R.text().str();
  Unit.Output = R.text().str();
  Unit.Lines = R.number();
  Unit.Strings.resize(R.count());
  for (std::string &Each : Unit.Strings)
    Each = R.text().str();
  readAll(R, Unit.Types, 4);
  readAll(R, Unit.Records, 9);
  readAll(R, Unit.Symbols, 7);
  readAll(R, Unit.Functions, 9);
  if (R.Failed || !R.atEnd())
    return damaged(Path, "malformed at byte " + llvm::Twine(HeaderBytes + R.position()));
  if (llvm::Error Bad = verify(Unit))
    return damaged(Path, llvm::toString(std::move(Bad)));
  return Unit;
}

} // namespace nvmove::facts
