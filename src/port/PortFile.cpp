// Reading a port file with LLVM's YAML I/O: see PortFile.h.
#include "port/PortFile.h"

#include "port/Contradictions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/YAMLTraits.h"

using namespace nvmove::port;

namespace {

/// The version of the format.
struct Version {
  uint32_t Number = 0;
};

/// The last part of the path of the source that makes the program.
struct Source {
  std::string Path;
};

/// Bits of a pointer that are no address.
struct Bits {
  uint64_t Mask = 0;
};

/// What is read, and how far it is.
struct Reading {
  llvm::StringRef Text;
  const llvm::yaml::Input *In = nullptr;
};

/// The text before and behind the scalar that is read; quotes belong to it.
std::pair<llvm::StringRef, llvm::StringRef> around(const Reading &R) {
  llvm::SMRange Range = R.In->getCurrentNode()->getSourceRange();
  auto Begin = size_t(Range.Start.getPointer() - R.Text.begin());
  auto End = size_t(Range.End.getPointer() - R.Text.begin());
  return {R.Text.take_front(Begin), R.Text.drop_front(End)};
}

Entry entryAt(const Reading &R, llvm::StringRef Scalar) {
  Entry Made{Scalar.str(), Scalar.substr(Scalar.find(':') + 1).str()};
  llvm::StringRef Before = around(R).first;
  Made.Line = unsigned(Before.count('\n')) + 1;
  Made.Column = unsigned(Before.size() - (Before.rfind('\n') + 1)) + 1;
  return Made;
}

/// Whether `commit` has a list, and not just nothing behind it, as where its lines are comments.
bool saysNone(llvm::StringRef Text) {
  llvm::SourceMgr Sources;
  llvm::yaml::Stream Again(Text, Sources);
  auto *Keys = llvm::dyn_cast<llvm::yaml::MappingNode>(Again.begin()->getRoot());
  for (llvm::yaml::KeyValueNode &Pair : *Keys) {
    auto *Key = llvm::dyn_cast<llvm::yaml::ScalarNode>(Pair.getKey());
    llvm::SmallString<16> Room;
    if (Key && Key->getValue(Room) == "commit")
      return llvm::isa<llvm::yaml::SequenceNode>(Pair.getValue());
  }
  return false;
}

/// YAML takes `[a, , b]` for two entries.
bool isBesideNothing(const Reading &R) {
  auto [Before, After] = around(R);
  Before = Before.rtrim();
  After = After.ltrim();
  bool Follows = Before.consume_back(","), IsFollowed = After.consume_front(",");
  Before = Before.rtrim();
  return (Follows && (Before.ends_with(",") || Before.ends_with("["))) ||
         (IsFollowed && After.ltrim().starts_with(","));
}

bool isNameLetter(char C) { return llvm::isAlnum(C) || llvm::StringRef("_./-[]").contains(C); }

bool isName(llvm::StringRef Name) { return !Name.empty() && llvm::all_of(Name, isNameLetter); }

} // namespace

LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(Entry)
LLVM_YAML_IS_SEQUENCE_VECTOR(Decided)
LLVM_YAML_IS_SEQUENCE_VECTOR(Tagged)
LLVM_YAML_IS_SEQUENCE_VECTOR(Root)
LLVM_YAML_IS_SEQUENCE_VECTOR(Load)

namespace llvm::yaml {

template <> struct ScalarTraits<Entry> {
  static void output(const Entry &E, void *, raw_ostream &OS) { OS << E.Written; }
  static StringRef input(StringRef Scalar, void *Context, Entry &E) {
    const auto &R = *static_cast<const Reading *>(Context);
    E = entryAt(R, Scalar);
    if (isBesideNothing(R))
      return "there is nothing between two commas beside this";
    return isName(E.Name) && (E.Name == Scalar || isName(Scalar.drop_back(E.Name.size() + 1)))
               ? StringRef()
               : "not the name of a function, a field (record.field) or a file, nor of one in a "
                 "source (file.c:name)";
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<Version> {
  static void output(const Version &V, void *, raw_ostream &OS) { OS << V.Number; }
  static StringRef input(StringRef Scalar, void *, Version &V) {
    return !Scalar.getAsInteger(10, V.Number) && V.Number == 1
               ? StringRef()
               : "this nvmove reads port files of version 1";
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<Source> {
  static void output(const Source &S, void *, raw_ostream &OS) { OS << S.Path; }
  static StringRef input(StringRef Scalar, void *, Source &S) {
    S.Path = Scalar.str();
    return S.Path.empty() ? "'program' names the source that makes the program" : StringRef();
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<Bits> {
  static void output(const Bits &B, void *, raw_ostream &OS) { OS << B.Mask; }
  static StringRef input(StringRef Scalar, void *, Bits &B) {
    if (Scalar.getAsInteger(0, B.Mask))
      return "not a number of 64 bits";
    if (!B.Mask)
      return "no bit is set: such a field is 'pointer'";
    return wrongTag(B.Mask);
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct MappingTraits<Decided> {
  static void mapping(IO &Io, Decided &D) {
    std::string When, Unless;
    Io.mapRequired("field", D.Field);
    Io.mapOptional("when", When);
    Io.mapOptional("unless", Unless);
    Io.mapRequired("values", D.Values);
    D.Unless = When.empty();
    D.Member = D.Unless ? Unless : When;
    if (D.Member.empty() || !(When.empty() || Unless.empty()))
      Io.setError("either 'when' or 'unless' names the member that decides");
    else if (D.Values.empty())
      Io.setError("'values' names no value");
  }
};

template <> struct MappingTraits<Tagged> {
  static void mapping(IO &Io, Tagged &T) {
    Io.mapRequired("field", T.Field);
    Bits Read;
    Io.mapRequired("bits", Read);
    T.Bits = Read.Mask;
  }
};

template <> struct MappingTraits<Fields> {
  static void mapping(IO &Io, Fields &F) {
    Io.mapOptional("pointer", F.Pointer);
    Io.mapOptional("weak", F.Weak);
    Io.mapOptional("static", F.Static);
    Io.mapOptional("volatile", F.Volatile);
    Io.mapOptional("pointer_or_number", F.Number);
    Io.mapOptional("xor", F.Xor);
    Io.mapOptional("made_of_addresses", F.Addresses);
    Io.mapOptional("tagged", F.Tag);
    Io.mapOptional("decided", F.When);
  }
};

template <> struct MappingTraits<Root> {
  static void mapping(IO &Io, Root &R) {
    Io.mapRequired("name", R.Name);
    Io.mapOptional("after", R.After);
    Io.mapOptional("constant", R.Constant);
    Io.mapOptional("in_pool", R.InPool);
    if (R.InPool && (R.Constant || !R.After.Written.empty()))
      Io.setError("'after' and 'constant' are for copies, and 'in_pool' makes none");
  }
};

template <> struct MappingTraits<Load> {
  static void mapping(IO &Io, Load &L) {
    Io.mapRequired("function", L.Function);
    Io.mapOptional("attached", L.Attached);
  }
};

/// One number with one of \p Units behind it, or none of them; 0 counts as none.
static bool isNumber(StringRef Text, StringRef Units) {
  uint64_t Number;
  if (!Text.empty() && Units.contains(Text.back()))
    Text = Text.drop_back();
  return !Text.empty() && isDigit(Text.front()) && !Text.getAsInteger(10, Number) && Number;
}

template <> struct MappingTraits<PoolSettings> {
  static void mapping(IO &Io, PoolSettings &P) {
    Io.mapOptional("path", P.Path);
    Io.mapOptional("size", P.Size);
    Io.mapOptional("method", P.Method);
    Io.mapOptional("durable", P.Durable);
    if (!P.Size.empty() && !isNumber(P.Size, "KMG"))
      Io.setError("'size' is a number of bytes, or a number with K, M or G: 512M");
    else if (!P.Method.empty() && P.Method != "undo" && P.Method != "shadow")
      Io.setError("'method' is 'undo' or 'shadow'");
    else if (!P.Durable.empty() && P.Durable != "always" && P.Durable != "never" &&
             !isNumber(P.Durable, ""))
      Io.setError("'durable' is 'always', 'never' or a number of milliseconds");
  }
};

template <> struct MappingTraits<PortFile> {
  static void mapping(IO &Io, PortFile &P) {
    Version V;
    Io.mapRequired("nvmove", V);
    Source Program;
    Io.mapRequired("program", Program);
    P.Program = Program.Path;
    Io.mapOptional("atomic", P.Atomic);
    Io.mapOptional("commit", P.Commit);
    Io.mapOptional("split", P.Split);
    Io.mapOptional("unsafe", P.Unsafe);
    Io.mapOptional("allocators", P.Allocators);
    Io.mapOptional("bytes", P.Bytes);
    Io.mapOptional("persistent", P.Persistent);
    Io.mapOptional("volatile", P.Volatile);
    Io.mapOptional("beside", P.Beside);
    Io.mapOptional("roots", P.Roots);
    Io.mapOptional("load", P.Loads);
    Io.mapOptional("end", P.End);
    Io.mapOptional("pool", P.Pool);
    Io.mapOptional("fields", P.Marks);
    Io.mapOptional("types", P.Types);
    if (P.Roots.empty() != P.Loads.empty())
      Io.setError(
          "'roots' and 'load' belong together: what has the pool's values, and from when on");
    else if (!P.Roots.empty() && P.Allocators.empty() &&
             !all_of(P.Roots, [](const nvmove::port::Root &R) { return R.InPool; }))
      Io.setError("'allocators' is missing: nothing could lie in the pool; it names the functions "
                  "that call malloc, or malloc, calloc, ... themselves");
    else if (!P.Loads.empty() && P.Commit.empty() && P.Split.empty() && P.Atomic.empty() &&
             !saysNone(static_cast<const Reading *>(Io.getContext())->Text))
      Io.setError("'commit', 'split' or 'atomic' is missing: without one of them nothing is kept "
                  "before the program exits. 'commit' names a function that is entered where the "
                  "data are whole ('commit: []': the source has marks, or the exit is enough)");
  }
};

} // namespace llvm::yaml

namespace nvmove::port {
namespace {

/// The marks without more, of a file that may change or may not.
template <class Marks, class Taker> void visitMarks(Marks &M, Taker Take) {
  auto Each = [&](auto &List, const char *Annotation) {
    for (auto &E : List)
      Take(E, Annotation);
  };
  Each(M.Pointer, "nvmove.pointer");
  Each(M.Weak, "nvmove.weak");
  Each(M.Static, "nvmove.static");
  Each(M.Volatile, "nvmove.volatile");
  Each(M.Number, "nvmove.either");
  Each(M.Xor, "nvmove.xor");
  Each(M.Addresses, "nvmove.address");
}

/// All entries but the files.
template <class File, class Taker> void visit(File &P, Taker Take) {
  for (auto *List : {&P.Atomic, &P.Commit, &P.Split, &P.Allocators, &P.Bytes, &P.Persistent,
                     &P.Volatile, &P.Beside, &P.End})
    for (auto &E : *List)
      Take(E);
  for (auto &R : P.Roots) {
    Take(R.Name);
    if (!R.After.Written.empty())
      Take(R.After);
  }
  for (auto &L : P.Loads)
    Take(L.Function);
  visitMarks(P.Marks, [&](auto &E, const char *) { Take(E); });
  for (auto &T : P.Marks.Tag)
    Take(T.Field);
  for (auto &D : P.Marks.When)
    Take(D.Field);
}

llvm::Error errorAt(llvm::StringRef Text, llvm::StringRef Path, const Entry &Where,
                    const std::string &What) {
  llvm::SourceMgr Sources;
  unsigned Id = Sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(Text, Path), {});
  std::string Shown;
  llvm::raw_string_ostream OS(Shown);
  Sources
      .GetMessage(Sources.FindLocForLineAndColumn(Id, Where.Line, Where.Column),
                  llvm::SourceMgr::DK_Error, What)
      .print(nullptr, OS, /*ShowColors=*/false);
  return llvm::createStringError(llvm::inconvertibleErrorCode(), llvm::StringRef(Shown).rtrim());
}

} // namespace

llvm::Expected<PortFile> parsePortFile(llvm::StringRef Text, llvm::StringRef Path) {
  PortFile Made;
  std::string Wrong;
  auto KeepFirst = [](const llvm::SMDiagnostic &D, void *To) {
    auto &Kept = *static_cast<std::string *>(To);
    llvm::raw_string_ostream OS(Kept);
    if (Kept.empty()) // the others follow from it
      D.print(nullptr, OS, /*ShowColors=*/false);
  };
  Reading Now{Text};
  llvm::yaml::Input In(llvm::MemoryBufferRef(Text, Path), &Now, KeepFirst, &Wrong);
  Now.In = &In;
  llvm::yaml::EmptyContext Empty;
  if (In.setCurrentDocument() && !In.error())
    llvm::yaml::yamlize(In, Made, true, Empty);
  else if (!In.error())
    Wrong = Path.str() + ": nothing is in it; it begins with 'nvmove: 1'";
  if (!In.error() && Wrong.empty() && In.nextDocument() && In.setCurrentDocument())
    static_cast<llvm::yaml::IO &>(In).setError(
        "a second document behind '---'; a port file is the first alone");
  if (!Wrong.empty() || In.error())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), llvm::StringRef(Wrong).rtrim());
  Made.Path = Path.str();
  if (Contradiction Found = findContradiction(Made); !Found.What.empty())
    return errorAt(Text, Path, Found.Where, Found.What);
  return Made;
}

llvm::Expected<PortFile> readPortFile(llvm::StringRef Path) {
  auto Buffer = llvm::MemoryBuffer::getFile(Path, /*IsText=*/true);
  if (!Buffer)
    return llvm::createStringError(Buffer.getError(),
                                   "port file " + Path + ": " + Buffer.getError().message());
  return parsePortFile((*Buffer)->getBuffer(), Path);
}

void forEachMark(const Fields &F, llvm::function_ref<void(const Entry &, const char *)> Take) {
  visitMarks(F, Take);
}

void forEachSetting(const PoolSettings &P,
                    llvm::function_ref<void(llvm::StringRef, llvm::StringRef)> Take) {
  const std::pair<const char *, const std::string &> All[] = {{"NVMOVE_POOL", P.Path},
                                                              {"NVMOVE_POOL_SIZE", P.Size},
                                                              {"NVMOVE_METHOD", P.Method},
                                                              {"NVMOVE_DURABLE", P.Durable}};
  for (const auto &[Name, Value] : All)
    if (!Value.empty())
      Take(Name, Value);
}

llvm::StringRef wrongTag(uint64_t Bits) {
  // Between what is 0 in the address of a page and what is 0 in every address of a program.
  constexpr uint64_t Address = (UINT64_C(1) << 47) - (UINT64_C(1) << 12);
  if (!~Bits)
    return "all 64 bits are set: none is left for the address";
  return Bits & Address ? "bits 12 to 46 are a part of the address and cannot be taken from it"
                        : llvm::StringRef();
}

bool sameSource(llvm::StringRef Path, llvm::StringRef Written) {
  return Path == Written || Path.ends_with(("/" + Written).str());
}

void keepEntriesOf(PortFile &P, llvm::StringRef Path) {
  visit(P, [&](Entry &E) {
    auto [Source, Name] = llvm::StringRef(E.Written).split(':');
    if (!Name.empty() && !sameSource(Path, Source))
      E.Name.clear();
  });
}

void forEachEntry(const PortFile &P, llvm::function_ref<void(const Entry &)> Take) {
  visit(P, Take);
}

} // namespace nvmove::port
