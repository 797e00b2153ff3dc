// Expressions of .unsafe files as code in front of a call.
#pragma once

#include "base/UnsafeFile.h"

#include "llvm/IR/IRBuilder.h"

namespace nvmove::plugin {

/// Turns expressions into code. Addresses that a range is reached through may be null, so that
/// loads and string functions of a null address give 0 instead of a fault that the program would
/// not have.
class Evaluator {
public:
  /// \p Element: the address of the element of the `each` around the expression, or null.
  Evaluator(llvm::IRBuilderBase &At, llvm::ArrayRef<llvm::Value *> Arguments, llvm::Value *Element)
      : At(At), Arguments(Arguments), Element(Element), M(*At.GetInsertBlock()->getModule()) {}

  llvm::Value *value(const UnsafeExpr &E);
  llvm::Value *address(const UnsafeExpr &E);
  llvm::Value *argument(const UnsafeExpr &E) const;

private:
  llvm::Type *word() const { return At.getInt64Ty(); }
  llvm::Value *asInteger(llvm::Value *V);
  llvm::Value *readable(const UnsafeExpr &E);
  llvm::Constant *zeros();
  llvm::Value *call(llvm::StringRef Name, llvm::ArrayRef<llvm::Value *> Operands);
  llvm::Value *printed(const UnsafeExpr &Format);
  llvm::Value *vprinted(const UnsafeExpr &Format, const UnsafeExpr &List);
  llvm::Value *length(llvm::Value *Result);

  llvm::IRBuilderBase &At;
  llvm::ArrayRef<llvm::Value *> Arguments;
  llvm::Value *Element;
  llvm::Module &M;
};

} // namespace nvmove::plugin
