// Reads files of steps: see Steps.h.
#include "move/Steps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nvmove::move {

llvm::Expected<std::vector<Step>> readSteps(const std::string &Path) {
  auto Read = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!Read)
    return llvm::createFileError(Path, Read.getError());
  std::vector<Step> Steps;
  unsigned Line = 0;
  for (llvm::StringRef Text : llvm::split((*Read)->getBuffer(), '\n')) {
    ++Line;
    Text.consume_back("\r");
    if (Text.trim().empty() || Text.starts_with("#"))
      continue;
    bool IsCommand = Text.consume_front("$ ");
    if (!IsCommand)
      Text.consume_front("\\");
    Steps.push_back({IsCommand, Text.str(), Line});
  }
  if (Steps.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   Path + ": has no step: each line is one");
  return Steps;
}

} // namespace nvmove::move
