// Accesses through the persistent types of --emulate-types, and the marks by which they are known again
// behind optimisation.
//
// A mark is an alias scope that has the types in its name. Passes that move or merge accesses keep such scopes, as
// they keep no metadata of others; it says nothing else, for no access is declared not to alias it.
#pragma once

#include "emulation/Records.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

#include <optional>

namespace nvmove::plugin {

/// The types of --emulate-types. None: what is wrong was reported.
std::optional<RecordNames> readTypes(llvm::Module &M);

/// An access, as the persistent types see it.
struct Emulated {
  std::string Types; ///< names with commas between them; empty: it goes through none
  /// What is stored has to become durable: it is on no stack, and in no volatile field.
  bool Lasts = true;
};

/// Before optimisation.
Emulated emulatedOf(const Access &A, const RecordNames &Wanted);

/// Makes one scope for each mark with its types.
class Marker {
public:
  explicit Marker(llvm::Module &M)
      : Build(M.getContext()), Domain(Build.createAnonymousAliasScopeDomain()) {}

  void mark(const Access &A, const Emulated &E);

private:
  llvm::MDBuilder Build;
  llvm::MDNode *Domain;
  llvm::StringMap<llvm::MDNode *> Scopes;
};

/// What the mark of \p A says. Inlining copies scopes: the name stays.
Emulated markOf(const Access &A);

/// For announced loads: whether \p A, of \p Wanted, is one that reads, or an argument of a call. Before optimisation.
bool goesThrough(const Access &A, const RecordNames &Wanted);
/// Marks all of these in \p M.
void markReads(llvm::Module &M, const RecordNames &Wanted);
/// Whether it was marked so. Behind optimisation.
bool isMarkedRead(const Access &A);

} // namespace nvmove::plugin
