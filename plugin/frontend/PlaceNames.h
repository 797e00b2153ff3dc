// How a port file names what is assigned to.
#pragma once

#include "clang/AST/Expr.h"

#include <string>

namespace nvmove::plugin {

/// Of a global variable its name, of any other "FUNCTION.VARIABLE".
std::string nameOf(const clang::ValueDecl &Variable);

/// "RECORD.FIELD"; ".FIELD" where the record has no name.
std::string nameOfField(const clang::FieldDecl &Field);

/// One of these: what an assignment to \p Place assigns to, with "[]" for an element of it.
/// "VARIABLE.FIELD" where the variable's record has no name.
std::string nameOfPlace(const clang::Expr *Place);

} // namespace nvmove::plugin
