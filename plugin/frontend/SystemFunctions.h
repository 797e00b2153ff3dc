// Functions that system headers declare: what their parameters say they may write.
//
// A parameter says it by its type. A pointer to something not const is written through. An object
// that it points to, const or not, leads on when it holds data pointers, at any depth, to something
// not const: `const struct iovec *` is how `preadv2` is told of buffers. An object behind `void *`
// may hold anything.
//
// Memory that only the library has is no program's: objects of a type that is not complete, a FILE,
// a stream. A class of C++ that is no plain structure of C looks after what it leads to itself.
#pragma once

#include "base/Frontend.h"

#include "clang/AST/Decl.h"

namespace nvmove::plugin {

SystemFunction describeSystemFunction(const clang::FunctionDecl &F);

} // namespace nvmove::plugin
