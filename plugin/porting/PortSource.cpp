// Allocations marked with what they are for: see PortSource.h.
#include "porting/PortSource.h"

#include "base/Frontend.h"
#include "frontend/AllocationSize.h"
#include "frontend/Deciders.h"
#include "frontend/Markers.h"
#include "frontend/PlaceNames.h"
#include "frontend/Visitor.h"
#include "porting/Port.h"

#include "nvmove/abi.h"

#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

/// Whether anything is called while \p S is computed.
bool hasCall(const Stmt *S) {
  return S && (isa<CallExpr>(S) || llvm::any_of(S->children(), hasCall));
}

bool isOfLibrary(const FunctionDecl &F) {
  return !F.isDefined() &&
         llvm::is_contained({"malloc", "calloc", "realloc", "reallocarray"}, F.getName());
}

/// Functions of the C library that allocate a text.
bool makesText(llvm::StringRef Name) {
  return llvm::StringSwitch<bool>(unchecked(Name))
      .Cases("strdup", "strndup", "asprintf", "vasprintf", "getline", "getdelim", true)
      .Default(false);
}

class PortRewriter : public Visitor {
public:
  PortRewriter(LayoutBuilder &Layouts, const port::PortFile &File)
      : Layouts(Layouts), Context(Layouts.context()), File(File), Make(Context) {}

  bool TraverseFunctionDecl(FunctionDecl *F, llvm::function_ref<bool()> Inside) override {
    llvm::StringRef Name = F->getIdentifier() ? F->getName() : "";
    // A function may be declared inside another.
    llvm::SaveAndRestore Allocates(InAllocator, has(File.Allocators, Name));
    llvm::SaveAndRestore Makes(InBytes, has(File.Bytes, Name));
    llvm::SaveAndRestore Returns(Returned, F->getReturnType());
    llvm::SaveAndRestore Around(Function, F);
    if (F->doesThisDeclarationHaveABody())
      checkBeside(*F);
    return Inside();
  }

  bool VisitVarDecl(VarDecl *Variable) override {
    if (Expr *Value = Variable->getInit(); Value && Variable->isLocalVarDecl()) {
      noteDestination(Value, Variable->getType());
      if (!InAllocator)
        Variable->setInit(initialised(Value, nameOf(*Variable)));
    }
    if (!InAllocator && Variable->hasGlobalStorage() &&
        Variable->isThisDeclarationADefinition() != VarDecl::DeclarationOnly)
      findRoots(*Variable);
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator *Assignment) override {
    if (!Assignment->isAssignmentOp())
      return true;
    if (!InAllocator)
      noteBitField(*Assignment);
    if (Assignment->getOpcode() != BO_Assign)
      return true;
    noteDestination(Assignment->getRHS(), Assignment->getLHS()->getType());
    if (!InAllocator)
      Assignment->setRHS(placed(Assignment->getRHS(), nameOfPlace(Assignment->getLHS())));
    return true;
  }

  /// Code is generated for its semantic form; the other is what is visited.
  bool VisitInitListExpr(InitListExpr *List) override {
    InitListExpr *Semantic = List->isSemanticForm() ? List : List->getSemanticForm();
    if (Semantic && Function && !InAllocator)
      initialised(Semantic, "");
    return true;
  }

  bool VisitReturnStmt(ReturnStmt *Return) override {
    if (const Expr *Value = Return->getRetValue())
      noteDestination(Value, Returned);
    return true;
  }

  bool VisitCStyleCastExpr(CStyleCastExpr *Cast) override {
    noteDestination(Cast->getSubExpr(), Cast->getType());
    return true;
  }

  bool VisitCallExpr(CallExpr *Call) override {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || !Callee->getIdentifier())
      return true;
    for (unsigned N = 0; N < std::min(Call->getNumArgs(), Callee->getNumParams()); ++N)
      noteDestination(Call->getArg(N), Callee->getParamDecl(N)->getType());
    bool Named = has(File.Allocators, unchecked(Callee->getName()));
    bool Copies = !Callee->isDefined() && makesText(Callee->getName());
    // What else an allocator calls inside is the same allocation still: unless it names a record
    // itself, its type is the caller's.
    if (Copies && (Named || InAllocator))
      place(*Call, Call->getNumArgs() - 1, Layouts.describe(Context.CharTy));
    else if (Named && !InAllocator)
      placeSized(*Call);
    else if (InAllocator && (Named || isOfLibrary(*Callee)))
      placeOwn(*Call);
    return true;
  }

private:
  uint64_t idOf(const AllocationSize &Type) {
    if (Type.Type.isNull())
      return NVM_PLACE_ANYTHING;
    return Layouts.describe(Type.Type, Type.Behind);
  }

  static bool isText(const Expr &E) {
    QualType T = E.IgnoreParenImpCasts()->getType();
    return isa<clang::StringLiteral>(E.IgnoreParenImpCasts()) ||
           (T->isPointerType() && T->getPointeeType()->isCharType() &&
            T->getPointeeType().isConstQualified());
  }

  /// The sizes and counts: not the line behind the name of a file.
  static llvm::SmallVector<const Expr *> integersOf(const CallExpr &Call) {
    llvm::SmallVector<const Expr *> Found;
    for (unsigned N = 0; N < Call.getNumArgs(); ++N)
      if (Call.getArg(N)->getType()->isIntegerType() &&
          (Found.empty() || !isText(*Call.getArg(N - 1))))
        Found.push_back(Call.getArg(N));
    return Found;
  }

  static unsigned lastInteger(const CallExpr &Call) {
    unsigned N = Call.getNumArgs();
    while (!Call.getArg(--N)->getType()->isIntegerType())
      ;
    return N;
  }

  /// An allocator that knows what it allocates, bytes or a record, malloc(sizeof(struct item)): its
  /// callers name no type.
  void placeOwn(CallExpr &Call) {
    llvm::SmallVector<const Expr *> Integers = integersOf(Call);
    if (Integers.empty())
      return;
    if (InBytes)
      return place(Call, lastInteger(Call), Layouts.describe(Context.CharTy));
    std::optional<AllocationSize> Type = sizedBy(Integers, Destinations.lookup(&Call), Layouts);
    if (Type && Type->NamesRecord)
      place(Call, lastInteger(Call), idOf(*Type));
  }

  /// Elements of a size that only the program's run knows.
  bool areElements(llvm::ArrayRef<const Expr *> Integers) const {
    auto IsOpen = [&](const Expr *E) { return !E->isIntegerConstantExpr(Context); };
    return llvm::count_if(Integers, IsOpen) > 1 ||
           llvm::any_of(Integers, [&](const Expr *E) { return isProduct(E, Context); });
  }

  void placeSized(CallExpr &Call) {
    llvm::SmallVector<const Expr *> Integers = integersOf(Call);
    bool IsCopy = Integers.empty() && Call.getNumArgs() && // xstrdup(text)
                  Call.getArg(0)->getType()->isPointerType();
    if (Integers.empty() && !IsCopy)
      return;
    QualType Destination = Destinations.lookup(&Call);
    std::optional<AllocationSize> Type = sizedBy(Integers, Destination, Layouts);
    uint64_t Id = 0;
    if (InBytes)
      Id = Layouts.describe(Context.CharTy);
    else if (Type)
      Id = idOf(*Type);
    else if (areElements(Integers))
      Id = NVM_PLACE_ANYTHING | NVM_PLACE_GUESSED;
    else if (!Destination.isNull() && Destination->isPointerType() &&
             Destination->getPointeeType()->isCharType())
      Id = Layouts.describe(Context.CharTy) | NVM_PLACE_GUESSED;
    place(Call, IsCopy ? 0 : lastInteger(Call), Id);
  }

  /// The type goes with an argument, a number or a pointer.
  void place(CallExpr &Call, unsigned Argument, uint64_t Id) {
    Expr *Before = Call.getArg(Argument);
    Expr *Placed = Make.call("__nvm_place", Make.word(),
                             {Make.number(Id, *Before), Make.cast(Before, Make.word())});
    Call.setArg(Argument, Make.cast(Placed, Before->getType()));
  }

  static bool has(const std::vector<port::Entry> &List, llvm::StringRef Name) {
    return llvm::any_of(List, [&](const port::Entry &E) { return E.Name == Name; });
  }

  void checkBeside(const FunctionDecl &F) {
    const port::Entry *Beside = F.getIdentifier() ? findEntry(File.Beside, F.getName()) : nullptr;
    if (Beside && (!F.getNumParams() || !F.getParamDecl(0)->getType()->isPointerType()))
      portError(Context, *Beside,
                "'beside' means where the first argument lies, and this function's is no pointer");
  }

  /// The outermost pointer that says what it leads to; if none does, the outermost.
  void noteDestination(const Expr *Value, QualType Type) {
    Value = Value->IgnoreParenCasts();
    if (auto *Either = dyn_cast<ConditionalOperator>(Value)) {
      noteDestination(Either->getTrueExpr(), Type);
      noteDestination(Either->getFalseExpr(), Type);
    }
    auto *Call = dyn_cast<CallExpr>(Value);
    if (!Call)
      return;
    QualType &Known = Destinations[Call];
    if (Known.isNull() || (!tellsContent(Known) && tellsContent(Type)))
      Known = Type;
  }

  /// For the early phase, which sees a store of the bit-field's whole unit.
  void noteBitField(const BinaryOperator &Assignment) {
    const FieldDecl *Field = Assignment.getLHS()->getSourceBitField();
    if (!Field)
      return;
    const SourceManager &Sources = Context.getSourceManager();
    PresumedLoc Place = Sources.getPresumedLoc(Assignment.getOperatorLoc());
    if (Place.isInvalid())
      return;
    std::string Key = placeKey(Place.getFilename(), Place.getLine(), Place.getColumn());
    bool Volatile = annotation(*Field, "nvmove.volatile") && fillsBytes(Context, *Field);
    // Several assignments of one macro share a place: all of them have to be volatile.
    auto [At, New] = frontendFacts().BitFields.try_emplace(Key, Volatile);
    At->second = (New || At->second) && Volatile;
  }

  /// The name of a variable in the object file: one of a function has that one's before it.
  std::string symbolOf(const VarDecl &Variable) const {
    std::string Own = Variable.getName().str();
    return Variable.isStaticLocal() && Function && Function->getIdentifier()
               ? Function->getName().str() + "." + Own
               : Own;
  }

  void findRoots(const VarDecl &Variable) {
    std::string Symbol = symbolOf(Variable);
    for (const port::Root &R : File.Roots) {
      llvm::StringRef Path = R.Name.Name;
      QualType Type = Variable.getType();
      uint64_t Offset = 0;
      bool Named = Path.consume_front(Symbol) && (Path.empty() || Path.consume_front("."));
      bool Again = llvm::any_of(frontendFacts().Roots, // a tentative definition before this one
                                [&](const RootPlace &P) { return P.Name == R.Name.Written; });
      if (!Named || !follow(Type, Offset, Path))
        continue;
      if (Again && Variable.isStaticLocal())
        portError(Context, R.Name, "the function has several static variables of that name");
      if (Again)
        continue;
      foundInSource(R.Name);
      if (R.InPool && !Path.empty()) {
        portError(Context, R.Name, "only a whole variable can lie in the pool");
        continue;
      }
      if (Variable.getTLSKind() != VarDecl::TLS_None || Type.isConstQualified()) {
        portError(Context, R.Name,
                  "a root is a variable of the whole program that can be written; this one is " +
                      std::string(Type.isConstQualified() ? "const" : "one for each thread"));
        continue;
      }
      frontendFacts().Roots.push_back(
          {R.Name.Written, Symbol, R.After.Written, Offset,
           static_cast<uint64_t>(Context.getTypeSizeInChars(Type).getQuantity()) +
               (Path.empty() ? flexibleBytes(Variable) : 0),
           Layouts.describe(Type), R.Constant, R.InPool});
    }
  }

  /// Bytes of the flexible array at its end that its initializer fills.
  uint64_t flexibleBytes(const VarDecl &Variable) const {
    const VarDecl *Defined = Variable.getDefinition(Context);
    return Defined
               ? static_cast<uint64_t>(Defined->getFlexibleArrayInitChars(Context).getQuantity())
               : 0;
  }

  /// From the type of a variable to that of a part of it. False: it has no such part.
  bool follow(QualType &Type, uint64_t &Offset, llvm::StringRef Path) const {
    while (!Path.empty()) {
      auto [Name, Rest] = Path.split('.');
      const ValueDecl *Found = memberOf(Type, Name);
      if (!Found)
        return false;
      Offset += Context.getFieldOffset(Found) / 8;
      Type = Found->getType();
      Path = Rest;
    }
    return !Type->isIncompleteType();
  }

  /// A field, also of a record without name in the type's; null: none, or a bit-field.
  const ValueDecl *memberOf(QualType Type, llvm::StringRef Name) const {
    const RecordDecl *Record = Type->getAsRecordDecl();
    if (!Record)
      return nullptr;
    for (const Decl *D : Record->decls()) {
      auto *Inner = dyn_cast<IndirectFieldDecl>(D);
      const FieldDecl *Field = Inner ? Inner->getAnonField() : dyn_cast<FieldDecl>(D);
      if (Field && Field->getName() == Name && !Field->isBitField())
        return llvm::cast<ValueDecl>(D);
    }
    return nullptr;
  }

  /// The value that \p Place gets, computed in the scope that it is.
  Expr *placed(Expr *Value, llvm::StringRef Place) {
    QualType Type = Value->getType();
    if (Place.empty() || Type->isVoidType() || Type->isArrayType() || !hasCall(Value))
      return Value;
    return findEntry(File.Persistent, Place) ? Make.inScope(*Function, Value, NVM_SCOPE_POOL)
           : findEntry(File.Volatile, Place) ? Make.inScope(*Function, Value, 0)
                                             : Value;
  }

  /// The same of an initialiser, where elements and fields are places of their own.
  Expr *initialised(Expr *Value, const std::string &Place) {
    auto *List = dyn_cast<InitListExpr>(Value);
    if (!List)
      return placed(Value, Place);
    const RecordDecl *Record = List->getType()->getAsRecordDecl();
    if (Record && Initialisers.insert(List).second)
      initialiseFields(*List, *Record);
    if (!List->getType()->isArrayType())
      return placed(List, Place);
    for (unsigned N = 0; N < List->getNumInits(); ++N)
      List->setInit(N, initialised(List->getInit(N), Place.empty() ? Place : Place + "[]"));
    return List;
  }

  void initialiseFields(InitListExpr &List, const RecordDecl &Record) {
    unsigned N = 0;
    for (const FieldDecl *Field : Record.fields()) {
      if (Field->isUnnamedBitField() ||
          (Record.isUnion() && Field != List.getInitializedFieldInUnion()))
        continue;
      if (N == List.getNumInits())
        break;
      List.setInit(N, initialised(List.getInit(N), nameOfField(*Field)));
      ++N;
    }
  }

  LayoutBuilder &Layouts;
  ASTContext &Context;
  const port::PortFile &File;
  Markers Make;
  bool InAllocator = false, InBytes = false;
  FunctionDecl *Function = nullptr; ///< the one around
  QualType Returned;
  llvm::SmallPtrSet<const InitListExpr *, 16> Initialisers; ///< whose fields are done
  llvm::DenseMap<const CallExpr *, QualType> Destinations;
};

} // namespace

void rewriteForPort(LayoutBuilder &Layouts, DeclGroupRef Group) {
  const port::PortFile *File = portFile();
  if (!File || Layouts.context().getLangOpts().CPlusPlus)
    return;
  PortRewriter Rewriter(Layouts, *File);
  for (Decl *D : Group)
    Rewriter.traverse(D);
}

} // namespace nvmove::plugin
