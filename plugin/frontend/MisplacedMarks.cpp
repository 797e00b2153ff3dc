// Marks where they have no effect: see MisplacedMarks.h.
#include "frontend/MisplacedMarks.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

/// What a mark is for.
enum class Place {
  Anywhere,   ///< says what holds without it, too
  Record,     ///< in place of `struct`
  Field,      ///< a member of a record
  FieldOrUse, ///< the same; on a local variable, a parameter or a result it repeats what a field says
  Function,
};

struct Mark {
  llvm::StringRef Text, Macro;
  Place For;
};

constexpr Mark Marks[] = {
    {"nvmove.struct", "NVM_STRUCT", Place::Record},
    {"nvmove.pointer", "NVM_PTR", Place::Anywhere},
    {"nvmove.weak", "NVM_WEAK_PTR", Place::FieldOrUse},
    {"nvmove.static", "NVM_STATIC_PTR", Place::FieldOrUse},
    {"nvmove.tagged", "NVM_TAGGED_PTR", Place::FieldOrUse},
    {"nvmove.either", "NVM_PTR_OR_NUMBER", Place::Field},
    {"nvmove.xor", "NVM_XOR_PTR", Place::Field},
    {"nvmove.address", "NVM_MADE_OF_ADDRESSES", Place::Field},
    {"nvmove.when", "NVM_WHEN", Place::Field},
    {"nvmove.unless", "NVM_UNLESS", Place::Field},
    {"nvmove.volatile", "NVM_VOLATILE", Place::Field},
    {"nvmove.atomic", "NVM_ATOMIC", Place::Function},
    {"nvmove.commit", "NVM_COMMIT_POINT", Place::Function},
    {"nvmove.split", "NVM_SPLIT_POINT", Place::Function},
};

bool isUse(const Decl &D) {
  auto *Variable = dyn_cast<VarDecl>(&D);
  return isa<FunctionDecl>(D) || (Variable && Variable->hasLocalStorage());
}

bool isFor(Place For, const Decl &D) {
  switch (For) {
  case Place::Anywhere:
    return true;
  case Place::Record:
    return isa<RecordDecl>(D);
  case Place::Field:
    return isa<FieldDecl>(D);
  case Place::FieldOrUse:
    return isa<FieldDecl>(D) || isUse(D);
  case Place::Function:
    return isa<FunctionDecl>(D);
  }
  llvm_unreachable("a place of the list");
}

/// clang makes some of these without a body, or as another name of the base's.
bool isMadeByCompiler(const Decl &D) {
  auto *Method = dyn_cast<CXXMethodDecl>(&D);
  return Method && (isa<CXXDestructorDecl>(Method) || Method->isDefaulted());
}

const char *nameOf(Place For) {
  return For == Place::Function ? "a function" : For == Place::Record ? "a record" : "a field";
}

} // namespace

void refuseMisplacedMarks(ASTContext &Context, const Decl &D) {
  DiagnosticsEngine &Diagnostics = Context.getDiagnostics();
  for (const AnnotateAttr *Mark : D.specific_attrs<AnnotateAttr>()) {
    llvm::StringRef Text = Mark->getAnnotation();
    if (!Text.starts_with("nvmove."))
      continue;
    const auto *Known = llvm::find_if(Marks, [&](const auto &M) { return M.Text == Text; });
    if (Known == std::end(Marks)) {
      unsigned Id = Diagnostics.getCustomDiagID(
          DiagnosticsEngine::Error, "'%0' is no mark of nvmove; nvmove/marks.h has all of them");
      Diagnostics.Report(Mark->getLocation(), Id) << Text;
    } else if (!isFor(Known->For, D)) {
      unsigned Id = Diagnostics.getCustomDiagID(
          DiagnosticsEngine::Error,
          "%0 has no effect here: it marks %1%select{|; put it before the type of the member}2");
      Diagnostics.Report(Mark->getLocation(), Id)
          << Known->Macro << nameOf(Known->For) << isa<RecordDecl, TypedefNameDecl>(D);
    } else if (Known->For == Place::Function && isMadeByCompiler(D)) {
      unsigned Id = Diagnostics.getCustomDiagID(
          DiagnosticsEngine::Error,
          "%0 may have no effect on a destructor or a defaulted function: "
          "put it on a function that this one calls");
      Diagnostics.Report(Mark->getLocation(), Id) << Known->Macro;
    }
  }
}

} // namespace nvmove::plugin
