// Where the pointers of a type are: see Layouts.h.
#include "frontend/Layouts.h"

#include "frontend/Flattener.h"
#include "frontend/Members.h"
#include "frontend/Tails.h"

#include "llvm/Support/xxhash.h"

using namespace clang;

namespace nvmove::plugin {

LayoutBuilder::LayoutBuilder(ASTContext &Context) : Context(Context), Names(Context.getLangOpts()) {
  Names.AnonymousTagLocations = false;
}

namespace {

bool isDescribable(const Word &W) {
  uint64_t Most = std::max({W.Layout.Offset, W.Layout.Count, W.Layout.Stride});
  return std::max(Most, W.Layout.When ? W.Layout.When->Offset : 0) <= UINT32_MAX;
}

} // namespace

bool LayoutBuilder::holdsPointers(QualType T) const {
  return !T->isIncompleteType() &&
         llvm::any_of(Flattener(Context).flatten(T, 0, ""), [&](const Word &W) {
           if (W.isTail() && W.Elements.empty())
             return holdsPointers(W.Target);
           return W.isTail() || W.Layout.Kind != NVM_FIELD_VOLATILE;
         });
}

bool LayoutBuilder::hasWords(QualType T) const {
  return !Flattener(Context).flatten(T, 0, "").empty();
}

Words LayoutBuilder::wordsOf(QualType T, const TypeLayout &Type) const {
  Flattener Flatten(Context);
  Words All = Flatten.flatten(T, 0, "");
  decideTails(Flatten, All, Type);
  return All;
}

std::optional<Word> LayoutBuilder::tail(QualType T) const {
  for (const Word &W : wordsOf(T, begin(T)))
    if (W.isTail())
      return W;
  return std::nullopt;
}

bool LayoutBuilder::beginsWith(QualType Whole, QualType Part) const {
  Words There = Flattener(Context).flatten(Whole, 0, "");
  return Context.getTypeSizeInChars(Part) <= Context.getTypeSizeInChars(Whole) &&
         llvm::all_of(Flattener(Context).flatten(Part, 0, ""), [&](const Word &W) {
           return llvm::any_of(There, [&](const Word &Other) { return Other.covers(W); });
         });
}

uint64_t LayoutBuilder::describe(QualType T, Rest Behind) {
  static const char *const Added[] = {"", " and bytes", " and words"};
  T = T.getCanonicalType().getUnqualifiedType();
  std::pair<const void *, Rest> Key(T.getAsOpaquePtr(), Behind);
  if (auto At = Ids.find(Key); At != Ids.end())
    return At->second;
  Flattener Flatten(Context);
  TypeLayout Made = begin(T);
  Words All = wordsOf(T, Made);
  if (Behind != Rest::None && !hasTail(All)) {
    Made.Name += Added[static_cast<int>(Behind)];
    All.push_back(Behind == Rest::Bytes
                      ? Flatten.plainTail(Made.Size, "(bytes)")
                      : Flatten.undecidedTail(llvm::alignTo(Made.Size, sizeof(void *)), "(words)"));
  }
  if (!llvm::all_of(All, isDescribable))
    refuseSize(Context, T);
  return Ids[Key] = enter(std::move(Made), All);
}

TypeLayout LayoutBuilder::begin(QualType T) const {
  TypeLayout Made;
  Made.Name = T.getAsString(Names);
  Made.Size = static_cast<uint64_t>(Context.getTypeSizeInChars(T).getQuantity());
  Made.Alignment = static_cast<uint32_t>(Context.getTypeAlignInChars(T).getQuantity());
  Made.Members = memberLines(Context, Names, T);
  return Made;
}

uint64_t LayoutBuilder::enter(TypeLayout Made, const Words &All) {
  // The id covers the names of what fields point to, not their ids: types may point to each other.
  std::string Shape;
  llvm::raw_string_ostream OS(Shape);
  OS << Made.Name << '|' << Made.Size << '|' << Made.Alignment << '|' << Made.Members;
  std::vector<QualType> Leads;
  for (const Word &W : All) {
    FieldLayout L = W.Layout;
    OS << '|' << L.Name << ',' << L.Offset << ',' << L.Count << ',' << L.Stride << ',' << L.Kind
       << ',' << L.Tag << ',' << (W.Target.isNull() ? "" : W.Target.getAsString(Names));
    if (L.When)
      writeWhen(OS, *L.When);
    if (!W.Elements.empty()) {
      TypeLayout Element = begin(W.Target);
      Element.Name = Made.Name + "." + L.Name + "[]";
      L.Target = enter(std::move(Element), W.Elements);
      OS << ',' << L.Target;
    } else if (W.isTail() && !W.Target.isNull()) {
      OS << ',' << describe(W.Target); // its elements are a part of the record, with their marks
    }
    Made.Fields.push_back(std::move(L));
    Leads.push_back(W.Elements.empty() ? W.Target : QualType());
  }
  // Never 0, which means "not known", and positive as Breeze's type identifiers are.
  Made.Id = (llvm::xxh3_64bits(Shape) & INT64_MAX) | 1;
  uint64_t Id = Made.Id;
  Types.push_back(std::move(Made));
  Targets.push_back(std::move(Leads));
  return Id;
}

std::vector<TypeLayout> LayoutBuilder::finish() {
  for (size_t T = 0; T < Types.size(); ++T) // describe() may add types
    for (size_t F = 0; F < Targets[T].size(); ++F) {
      QualType Target = Targets[T][F];
      if (!Target.isNull() && !Target->isIncompleteType() && !Target->isFunctionType()) {
        uint64_t Id = describe(Target);
        Types[T].Fields[F].Target = Id;
      }
    }
  return std::move(Types);
}

} // namespace nvmove::plugin
