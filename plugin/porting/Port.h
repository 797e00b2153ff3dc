// What the port file says (src/port/PortFile.h), done to the translation unit at hand.
//
// Fields get the marks of include/nvmove/marks.h as if they stood in the source; the names of
// functions join those of the options. Whether an entry matches anything is known only where the
// program is linked: each object file that an entry matched in defines a symbol whose name is the
// error message, and the object of the port file's `program` refers to all of them, so the linker
// prints the messages of those that nothing defines.
#pragma once

#include "port/PortFile.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclGroup.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace nvmove::plugin {

/// Reads settings().Port, if there is one, for the source \p Path, and adds its functions and
/// .unsafe files to the settings.
llvm::Error readPort(llvm::StringRef Path);

/// What was read, without the names for other sources; null: there is no port file.
const port::PortFile *portFile();

/// Something in this source matches the entry.
void foundInSource(const port::Entry &E);

/// An error of the compilation, with the entry's place in the port file.
void portError(clang::ASTContext &Context, const port::Entry &E, const std::string &Message);
void portError(llvm::LLVMContext &Context, const port::Entry &E, const std::string &Message);

/// The function that \p Name is, which checks more with _FORTIFY_SOURCE: "asprintf" of "__asprintf_chk".
inline llvm::StringRef unchecked(llvm::StringRef Name) {
  llvm::StringRef Plain = Name;
  return Plain.consume_front("__") && Plain.consume_back("_chk") ? Plain : Name;
}

/// The entry of that name, now found; null: the list has none.
const port::Entry *findEntry(llvm::ArrayRef<port::Entry> List, llvm::StringRef Name);

/// Before layouts are described and code is generated for \p Group.
void markFields(clang::ASTContext &Context, clang::DeclGroupRef Group);

/// The symbols of the entries: those that were found here, and in `program` references to all.
void emitPortEntries(llvm::Module &M);

} // namespace nvmove::plugin
