// Reading a port file with LLVM's YAML I/O: see PortFile.h.
#include "port/PortFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/YAMLTraits.h"

using namespace nvmove::port;

namespace {

/// The version of the format.
struct Version {
  uint32_t Number = 0;
};

/// The place of \p Scalar in \p Text, unless escapes kept it from being a part of that.
Entry entryAt(llvm::StringRef Text, llvm::StringRef Scalar) {
  Entry Made{Scalar.str(), Scalar.substr(Scalar.find(':') + 1).str()};
  if (Scalar.data() < Text.begin() || Scalar.data() >= Text.end())
    return Made;
  llvm::StringRef Before = Text.take_front(size_t(Scalar.data() - Text.begin()));
  Made.Line = unsigned(Before.count('\n')) + 1;
  Made.Column = unsigned(Before.size() - (Before.rfind('\n') + 1)) + 1;
  return Made;
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
  static StringRef input(StringRef Scalar, void *Text, Entry &E) {
    E = entryAt(*static_cast<const StringRef *>(Text), Scalar);
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
    Io.mapRequired("bits", T.Bits);
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
  }
};

template <> struct MappingTraits<Load> {
  static void mapping(IO &Io, Load &L) {
    Io.mapRequired("function", L.Function);
    Io.mapOptional("attached", L.Attached);
  }
};

template <> struct MappingTraits<PortFile> {
  static void mapping(IO &Io, PortFile &P) {
    Version V;
    Io.mapRequired("nvmove", V);
    Io.mapRequired("program", P.Program);
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
    Io.mapOptional("fields", P.Marks);
    if (P.Roots.empty() != P.Loads.empty())
      Io.setError(
          "'roots' and 'load' belong together: what has the pool's values, and from when on");
    else if (!P.Roots.empty() && P.Allocators.empty())
      Io.setError("'allocators' is missing: nothing could lie in the pool");
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
                     &P.Volatile, &P.Beside})
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
  llvm::yaml::Input In(llvm::MemoryBufferRef(Text, Path), &Text, KeepFirst, &Wrong);
  llvm::yaml::EmptyContext Empty;
  if (In.setCurrentDocument() && !In.error())
    llvm::yaml::yamlize(In, Made, true, Empty);
  else if (!In.error())
    Wrong = Path.str() + ": nothing is in it; it begins with 'nvmove: 1'";
  if (!Wrong.empty() || In.error())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), llvm::StringRef(Wrong).rtrim());
  Made.Path = Path.str();
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
