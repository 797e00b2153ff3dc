// Records of accesses: see Records.h.
#include "emulation/Records.h"

#include "base/Frontend.h"
#include "emit/Sites.h"
#include "port/PortFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <set>

using namespace llvm;

namespace nvmove::plugin {
namespace {

StringRef plainName(StringRef Name) {
  for (StringRef Kind : {"struct ", "union ", "class ", "struct.", "union.", "class."})
    if (Name.consume_front(Kind))
      break;
  return Name;
}

/// The record that \p T is, or that it is an array of.
StructType *recordOf(Type *T) {
  while (auto *Array = dyn_cast<ArrayType>(T))
    T = Array->getElementType();
  return dyn_cast<StructType>(T);
}

struct Found {
  std::set<std::string> Names; ///< Those that are wanted.
  std::set<std::string> Shown; ///< Stems of all that the address shows.
};

/// The name without the number that LLVM gives to namesakes.
StringRef ofNamesake(StringRef Name) {
  auto [Stem, Number] = Name.rsplit('.');
  bool Numbered = !Number.empty() && all_of(Number, [](char C) { return isDigit(C); });
  return Numbered ? Stem : Name;
}

/// The same for a type in code and in the source: without what instance of a template it is.
StringRef stemOf(StringRef Name) {
  StringRef Plain = ofNamesake(plainName(Name));
  return Plain.contains('(') ? "anon" : Plain.split('<').first; // "(unnamed ...)"
}

void addWanted(Type *T, const RecordNames &Wanted, Found &To) {
  const StructType *Record = recordOf(T);
  if (!Record || !Record->hasName())
    return;
  To.Shown.insert(stemOf(Record->getName()).str());
  if (StringRef Name = Wanted.named(Record->getName()); !Name.empty())
    To.Names.insert(Name.str());
}

bool isUnion(Type *T) {
  const StructType *Record = recordOf(T);
  return Record && Record->hasName() && Record->getName().starts_with("union.");
}

/// Those around \p Size bytes at an offset of a variable, from the outside to the inside. In code a constant address has no
/// steps. Gives the innermost type; a union's members have no types there.
Type *addAround(Type *T, APInt Offset, uint64_t Size, const DataLayout &Data,
                const RecordNames &Wanted, Found &To) {
  while (T->isAggregateType() && T->isSized() && Data.getTypeAllocSize(T).getFixedValue() >= Size) {
    addWanted(T, Wanted, To);
    if (isUnion(T) || !Data.getGEPIndexForOffset(T, Offset))
      break;
  }
  return T;
}

/// Those around the first part of a variable whose place is not constant: an element of an array.
void addAroundElement(const Value *Address, const GlobalVariable &Variable, const DataLayout &Data,
                      const RecordNames &Wanted, Found &To) {
  SmallVector<const GEPOperator *> Steps; // from the inside to the outside
  for (; auto *Step = dyn_cast<GEPOperator>(Address); Address = Step->getPointerOperand())
    Steps.push_back(Step);
  APInt Offset(Data.getIndexTypeSizeInBits(Variable.getType()), 0);
  for (const GEPOperator *Step : reverse(Steps)) {
    Type *T = Step->getSourceElementType();
    if (Step->accumulateConstantOffset(Data, Offset))
      continue;
    if (T->isAggregateType() && T->isSized())
      addAround(Variable.getValueType(), Offset, Data.getTypeAllocSize(T).getFixedValue(), Data,
                Wanted, To);
    return;
  }
}

/// Those in which a step of the path from \p A's address to where it comes from is. What nobody can change
/// is no state of a program. Gives the innermost type; null: not known.
Type *addPath(const Access &A, const RecordNames &Wanted, Found &To) {
  const Value *Address = A.Address;
  Type *Innermost = nullptr;
  while (auto *Path = dyn_cast<GEPOperator>(Address)) {
    addWanted(Path->getSourceElementType(), Wanted, To);
    for (auto At = gep_type_begin(Path), End = gep_type_end(Path); At != End; ++At)
      addWanted(At.getIndexedType(), Wanted, To);
    if (!Innermost)
      Innermost = Path->getResultElementType();
    Address = Path->getPointerOperand();
  }
  if (auto *Local = dyn_cast<AllocaInst>(Address)) {
    addWanted(Local->getAllocatedType(), Wanted, To);
    return Innermost ? Innermost : Local->getAllocatedType();
  }
  auto *Variable = dyn_cast<GlobalVariable>(Address);
  if (!Variable || Variable->isConstant())
    return Innermost;
  addWanted(Variable->getValueType(), Wanted, To);
  const DataLayout &Data = Variable->getParent()->getDataLayout();
  APInt Offset(Data.getIndexTypeSizeInBits(Variable->getType()), 0);
  if (A.Address->stripAndAccumulateConstantOffsets(Data, Offset, /*AllowNonInbounds=*/true) !=
      Variable) {
    addAroundElement(A.Address, *Variable, Data, Wanted, To);
    return Innermost;
  }
  return addAround(Variable->getValueType(), Offset, A.Size, Data, Wanted, To);
}

/// Whether a step of the path is in a record, wanted or not.
bool showsRecord(const Value *Address) {
  for (; auto *Path = dyn_cast<GEPOperator>(Address); Address = Path->getPointerOperand())
    if (recordOf(Path->getSourceElementType()))
      return true;
  return false;
}

/// Those that are wanted of the types with one of \p Ids. Of several, where some have \p Size, only these.
void addById(const std::set<uint64_t> &Ids, uint64_t Size, const RecordNames &Wanted, Found &To) {
  std::set<std::string> All, OfSize;
  bool SomeHaveSize = false;
  for (const TypeLayout &T : frontendFacts().Types) {
    if (!Ids.count(T.Id))
      continue;
    SomeHaveSize = SomeHaveSize || T.Size == Size;
    if (StringRef Name = Wanted.named(T.Name); !Name.empty()) {
      All.insert(Name.str());
      if (T.Size == Size)
        OfSize.insert(Name.str());
    }
  }
  To.Names.merge(SomeHaveSize ? OfSize : All);
}

/// A copy that the compiler makes, of an argument, an initialiser, a variable of a loop, has no place of its own in the
/// source: where one end shows a record of that size, the other is one, too.
void addOther(const Access &A, const RecordNames &Wanted, Found &To) {
  auto *Copy = dyn_cast<MemTransferInst>(A.At);
  auto *Variable = dyn_cast<GlobalVariable>(getUnderlyingObject(A.Address));
  bool IsConstant = Variable && Variable->isConstant(); // an initialiser
  if (!Copy || !A.Size || IsConstant || frontendFacts().CalledCopies.contains(siteKey(*Copy)))
    return;
  Access Other = A;
  Other.Address = A.Writes ? Copy->getRawSource() : Copy->getRawDest();
  Found Its;
  Type *Shown = addPath(Other, Wanted, Its);
  StructType *Record = Shown ? recordOf(Shown) : nullptr;
  if (Record && Record->isSized() && !isUnion(Record) && // else it may be a member's copy
      Copy->getModule()->getDataLayout().getTypeAllocSize(Record) == A.Size)
    addWanted(Record, Wanted, To);
}

/// A record that is copied as a whole: its type lies nowhere in the addresses.
void addCopied(const Access &A, const RecordNames &Wanted, Found &To) {
  const FrontendFacts &Facts = frontendFacts();
  const auto &Known = A.Writes ? Facts.CopiedRecords : Facts.ReadRecords;
  bool IsCall = isa<CallBase>(A.At) && !libraryCallee(cast<CallBase>(*A.At)).empty();
  if (isa<MemIntrinsic>(A.At) || IsCall)
    if (auto Copied = Known.find(siteKey(*A.At)); Copied != Known.end())
      addById(Copied->second, A.Size, Wanted, To);
}

/// A variable that is no record, or a part of one.
bool isPlainVariable(const Value *Address) {
  auto *Global = dyn_cast<GlobalVariable>(Address);
  return isa<AllocaInst>(Address) || (Global && !recordOf(Global->getValueType()));
}

/// What is accessed through a path that the address does not show, or shows only up to a union. A variable that shares the
/// place, in a macro, is no member.
void addHidden(const Access &A, Type *Innermost, const RecordNames &Wanted, Found &To) {
  const FrontendFacts &Facts = frontendFacts();
  bool IsInUnion = Innermost && isUnion(Innermost);
  if (!isa<LoadInst, StoreInst>(A.At) || isPlainVariable(A.Address) ||
      (!IsInUnion && (!To.Names.empty() || showsRecord(A.Address))))
    return;
  if (auto Hidden = Facts.HiddenRecords.find(siteKey(*A.At)); Hidden != Facts.HiddenRecords.end())
    addById(Hidden->second, UINT64_MAX, Wanted, To);
}

/// Unions and derived classes on the way, of which the address has no step: a path of the source that has what the address
/// shows.
void addThrough(const Access &A, const RecordNames &Wanted, Found &To) {
  const FrontendFacts &Facts = frontendFacts();
  const auto &Known = !isa<CallBase>(A.At) ? Facts.AccessedThrough
                      : A.Writes           ? Facts.CopiedThrough
                                           : Facts.ReadThrough;
  auto Paths = Known.find(siteKey(*A.At));
  if (Paths == Known.end() || isPlainVariable(A.Address))
    return;
  for (const std::set<uint64_t> &Path : Paths->second) {
    std::vector<StringRef> Records;
    for (const TypeLayout &T : Facts.Types)
      if (Path.count(T.Id))
        Records.push_back(T.Name);
    auto IsShown = [&](StringRef Name) { return To.Shown.count(stemOf(Name).str()) != 0; };
    if (!To.Shown.empty() && none_of(Records, IsShown))
      continue; // another access of the same place
    for (StringRef Record : Records)
      if (StringRef Name = Wanted.named(Record); !Name.empty())
        To.Names.insert(Name.str());
  }
}

} // namespace

StringRef RecordNames::named(StringRef Name) const {
  Name = plainName(Name);
  auto Found = Names.find(Name);
  if (Found == Names.end())
    Found = Names.find(ofNamesake(Name));
  if (Found == Names.end())
    Found = Names.find(Name.rsplit("::").second); // by its tag alone
  return Found == Names.end() ? StringRef() : StringRef(Found->second);
}

void RecordNames::add(StringRef Name, StringRef First) {
  First = plainName(First);
  NamesAny = true;
  if (Names.try_emplace(plainName(Name), First).second && plainName(Name) == First)
    Firsts.push_back(First.str());
}

Error RecordNames::addReport(StringRef Text) {
  Expected<json::Value> Parsed = json::parse(Text);
  if (!Parsed)
    return Parsed.takeError();
  const json::Object *Report = Parsed->getAsObject();
  const json::Array *Types = Report ? Report->getArray("types") : nullptr;
  if (!Types)
    return createStringError("no array \"types\"; it is what 'nvmove scan --format=json' prints");
  for (const json::Value &Each : *Types) {
    const json::Object *Type = Each.getAsObject();
    std::optional<StringRef> Name = Type ? Type->getString("name") : std::nullopt;
    if (!Name)
      return createStringError("a type without a name");
    add(*Name, *Name);
    if (const json::Array *Aliases = Type->getArray("aliases"))
      for (const json::Value &Alias : *Aliases)
        if (std::optional<StringRef> Other = Alias.getAsString())
          add(*Other, *Name);
  }
  return Error::success();
}

/// Every port file has its version, at the beginning of a line.
static bool isPortFile(StringRef Text) {
  return Text.starts_with("nvmove:") || Text.contains("\nnvmove:");
}

/// Its volatile fields may go with the types of another file.
Error RecordNames::addPortFile(StringRef Text, const std::string &Path) {
  Expected<port::PortFile> File = port::parsePortFile(Text, Path);
  if (!File) {
    std::string Why = toString(File.takeError());
    return createStringError(Why.empty() ? Path + ": no port file that can be read" : Why);
  }
  for (const std::string &Name : File->Types)
    if (!plainName(Name).empty())
      add(plainName(Name), plainName(Name));
  NamesAny = NamesAny || !File->Marks.Volatile.empty();
  for (const port::Entry &Field : File->Marks.Volatile)
    Volatile.insert(Field.Written.substr(Field.Written.rfind(':') + 1)); // after "SOURCE:"
  if (!NamesAny)
    return createStringError(Path + ": this port file has no list of types; 'nvmove plan' writes "
                                    "it (types:)");
  return Error::success();
}

Error RecordNames::addFile(const std::string &Path) {
  auto Read = MemoryBuffer::getFile(Path, /*IsText=*/true);
  if (!Read)
    return createStringError(Path + ": " + Read.getError().message());
  StringRef Text = (*Read)->getBuffer();
  Text.consume_front("\xef\xbb\xbf"); // a byte order mark
  NamesAny = false;
  if (Text.ltrim().starts_with("{")) {
    if (Error E = addReport(Text))
      return createStringError(Path + ": " + toString(std::move(E)));
  } else if (isPortFile(Text)) {
    if (Error E = addPortFile(Text, Path))
      return E;
  } else {
    SmallVector<StringRef> Lines;
    Text.split(Lines, '\n');
    for (StringRef Line : Lines) {
      StringRef Name = plainName(Line.split('#').first.trim());
      if (!all_of(Name, [](char C) { return isAlnum(C) || StringRef("_$:").contains(C); }))
        return createStringError(Path + ": '" + Name.str() +
                                 "' is no name of a type; a list has one in each line");
      if (!Name.empty())
        add(Name, Name);
    }
  }
  return NamesAny ? Error::success() : createStringError(Path + ": it names no type");
}

std::string recordsOf(const Access &A, const RecordNames &Wanted) {
  Found All;
  if (A.Address && !A.Address->getType()->isVectorTy()) {
    Type *Innermost = addPath(A, Wanted, All);
    addCopied(A, Wanted, All);
    addOther(A, Wanted, All);
    addHidden(A, Innermost, Wanted, All);
    addThrough(A, Wanted, All);
  }
  return join(All.Names, ",");
}

} // namespace nvmove::plugin
