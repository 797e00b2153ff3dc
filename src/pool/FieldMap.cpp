// Reading a field map with LLVM's YAML I/O: see FieldMap.h.
#include "pool/FieldMap.h"

#include "pool/Members.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLTraits.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace nvmove::pool;

LLVM_YAML_IS_SEQUENCE_VECTOR(FieldChange)
LLVM_YAML_IS_SEQUENCE_VECTOR(TypeChange)

namespace llvm::yaml {

template <> struct MappingTraits<FieldChange> {
  static void mapping(IO &Io, FieldChange &F) {
    std::optional<int64_t> Value;
    Io.mapRequired("name", F.Name);
    Io.mapOptional("was", F.Was);
    Io.mapOptional("value", Value);
    F.Value = Value.value_or(0);
    if (F.Was.empty() != Value.has_value())
      Io.setError("either 'was' or 'value' says what a field of another name holds");
  }
};

template <> struct ScalarEnumerationTraits<TypeChange::Behind> {
  static void enumeration(IO &Io, TypeChange::Behind &B) {
    Io.enumCase(B, "record", TypeChange::OfRecord);
    Io.enumCase(B, "array", TypeChange::OfArray);
  }
};

template <> struct MappingTraits<TypeChange> {
  static void mapping(IO &Io, TypeChange &T) {
    Io.mapRequired("name", T.Name);
    Io.mapOptional("was", T.Was);
    Io.mapOptional("fields", T.Fields);
    Io.mapOptional("drop", T.Drop);
    Io.mapOptional("cut", T.Cut);
    Io.mapOptional("ends", T.Ends);
    Io.mapOptional("begins", T.Begins);
    Io.mapOptional("behind", T.More);
    std::optional<std::string> Several;
    Io.mapOptional("several", Several);
    T.IsByLayout = Several == "by-layout";
    if (Several && !T.IsByLayout)
      Io.setError("'several' is 'by-layout', or is left out");
  }
};

template <> struct ScalarEnumerationTraits<FieldMap::Undecided> {
  static void enumeration(IO &Io, FieldMap::Undecided &U) {
    Io.enumCase(U, "pointers", FieldMap::Pointers);
    Io.enumCase(U, "numbers", FieldMap::Numbers);
  }
};

template <> struct MappingTraits<FieldMap> {
  static void mapping(IO &Io, FieldMap &M) {
    Io.mapOptional("undecided", M.Words);
    Io.mapOptional("types", M.Types);
  }
};

} // namespace llvm::yaml

namespace {

void collect(const llvm::SMDiagnostic &Diagnostic, void *Into) {
  auto &Text = *static_cast<std::string *>(Into);
  llvm::raw_string_ostream OS(Text);
  if (Text.empty())
    Diagnostic.print(nullptr, OS, /*ShowColors=*/false);
}

/// LLVM's reader takes no file without a document.
bool saysNothing(llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef> Lines;
  Text.split(Lines, '\n');
  return llvm::all_of(Lines, [](llvm::StringRef Line) {
    Line = Line.split('#').first.trim();
    return Line.empty() || Line == "---" || Line == "...";
  });
}

/// A type, or a field of a type, that has two entries: only one would be heard. Empty: there is none.
std::string saidTwice(const FieldMap &Map) {
  std::set<std::string> Names, Were;
  for (const TypeChange &T : Map.Types) {
    if (!Names.insert(T.Name).second || !Were.insert(T.Was.empty() ? T.Name : T.Was).second)
      return "type " + T.Name;
    for (const std::string &Name : T.Ends)
      if (llvm::is_contained(T.Begins, Name))
        return "pointer " + Name + " of " + T.Name;
    std::set<std::string> Fields;
    for (const FieldChange &F : T.Fields)
      if (!Fields.insert(F.Name).second)
        return "field " + F.Name + " of " + T.Name;
  }
  return "";
}

} // namespace

const TypeChange *FieldMap::find(llvm::StringRef Program) const {
  for (const TypeChange &T : Types)
    if (T.Name == Program)
      return &T;
  return nullptr;
}

const TypeChange *FieldMap::findWas(llvm::StringRef Pool) const {
  for (const TypeChange &T : Types)
    if ((T.Was.empty() ? T.Name : T.Was) == Pool)
      return &T;
  llvm::StringRef Record = recordOf(Pool);
  return Record == Pool ? nullptr : findWas(Record);
}

std::string FieldMap::wasCalled(llvm::StringRef Program) const {
  const TypeChange *Change = find(Program);
  return Change && !Change->Was.empty() ? Change->Was : Program.str();
}

bool nvmove::pool::names(const std::vector<std::string> &All, llvm::StringRef Field) {
  auto Plain = [](llvm::StringRef Name) {
    std::string Made;
    llvm::copy_if(Name, std::back_inserter(Made), [](char C) { return C != '[' && C != ']'; });
    return Made;
  };
  return llvm::any_of(All, [&](const std::string &Name) { return Plain(Name) == Plain(Field); });
}

llvm::Expected<FieldMap> nvmove::pool::readFieldMap(llvm::StringRef Path) {
  auto Buffer = llvm::MemoryBuffer::getFile(Path, /*IsText=*/true);
  if (!Buffer)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   Path + ": " + Buffer.getError().message());
  if (saysNothing((*Buffer)->getBuffer()))
    return llvm::createStringError(llvm::inconvertibleErrorCode(), Path + ": the map says nothing");
  std::string Said;
  FieldMap Map;
  llvm::yaml::Input In((*Buffer)->getMemBufferRef(), nullptr, collect, &Said);
  In >> Map;
  if (!In.error() && In.nextDocument() && In.setCurrentDocument())
    static_cast<llvm::yaml::IO &>(In).setError(
        "a second document behind '---'; the map is the first alone");
  if (In.error())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), llvm::StringRef(Said).rtrim());
  if (std::string Name = saidTwice(Map); !Name.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   Path + ": " + Name + " has two entries");
  return Map;
}
