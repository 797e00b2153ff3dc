// Words that all report formats share: names of enumerators, counted nouns.
#pragma once

#include "solve/Result.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nvmove::report {

/// "high", "medium" or "low".
llvm::StringRef word(Confidence C);
/// "load", "call", "allocation", "read", "type", "store" or "root".
llvm::StringRef word(EvidenceStep::Kind K);

/// "both", "proved", "observed" or "contradicted".
llvm::StringRef word(RunSays S);

/// "1 type", "2 types".
std::string counted(uint64_t Number, llvm::StringRef Noun);

/// "45,123".
std::string grouped(uint64_t Number);

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string> &Words);

/// What the scan looked for, e.g. "what rdbLoad leaves behind and rdbSave saves".
std::string question(const ScanResult &Result);

/// "struct list", or what stands for a name: "(unnamed struct at a.c:4)".
std::string fullName(const PersistentType &Type);

/// The spellings of a type that say more than its name, e.g. "robj" for struct redisObject.
std::vector<std::string> otherNames(const PersistentType &Type);

} // namespace nvmove::report
