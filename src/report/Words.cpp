// Words shared by the report formats: see Words.h.
#include "report/Words.h"

namespace nvmove::report {

llvm::StringRef word(Confidence C) {
  switch (C) {
  case Confidence::High:
    return "high";
  case Confidence::Medium:
    return "medium";
  case Confidence::Low:
    break;
  }
  return "low";
}

llvm::StringRef word(EvidenceStep::Kind K) {
  switch (K) {
  case EvidenceStep::Kind::Load:
    return "load";
  case EvidenceStep::Kind::Call:
    return "call";
  case EvidenceStep::Kind::Allocation:
    return "allocation";
  case EvidenceStep::Kind::Read:
    return "read";
  case EvidenceStep::Kind::Type:
    return "type";
  case EvidenceStep::Kind::Store:
    return "store";
  case EvidenceStep::Kind::Root:
    break;
  }
  return "root";
}

llvm::StringRef word(RunSays S) {
  switch (S) {
  case RunSays::Both:
    return "both";
  case RunSays::Proved:
    return "proved";
  case RunSays::Observed:
    return "observed";
  case RunSays::Contradicted:
    break;
  }
  return "contradicted";
}

std::string counted(uint64_t Number, llvm::StringRef Noun) {
  return grouped(Number) + " " + Noun.str() + (Number == 1 ? "" : "s");
}

std::string grouped(uint64_t Number) {
  std::string Text = std::to_string(Number);
  for (size_t At = Text.size(); At > 3; At -= 3)
    Text.insert(At - 3, ",");
  return Text;
}

std::string listed(const std::vector<std::string> &Words) {
  std::string Text;
  for (size_t I = 0; I < Words.size(); ++I) {
    if (I)
      Text += I + 1 == Words.size() ? " and " : ", ";
    Text += Words[I];
  }
  return Text;
}

std::string question(const ScanResult &Result) {
  if (Result.Algorithm == "nvmove")
    return "types assigned on the way from " + listed(Result.Load) + " (NVMOVE's algorithm)";
  std::string Text = "what " + listed(Result.Load) + " leaves behind";
  if (!Result.Save.empty())
    Text += " and " + listed(Result.Save) + " saves";
  return Text;
}

std::string fullName(const PersistentType &Type) {
  if (llvm::StringRef(Type.Name).starts_with("("))
    return Type.Name;
  return (Type.Union ? "union " : "struct ") + Type.Name;
}

std::vector<std::string> otherNames(const PersistentType &Type) {
  std::vector<std::string> Names;
  for (const std::string &Alias : Type.Aliases)
    if (Alias != Type.Name && Alias != "struct " + Type.Name && Alias != "union " + Type.Name)
      Names.push_back(Alias);
  return Names;
}

} // namespace nvmove::report
