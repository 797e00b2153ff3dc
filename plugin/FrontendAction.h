// The half of the plugin that runs before code is generated: settings, record layouts, type
// numbers, and what system headers declare.
#pragma once

#include "clang/Frontend/FrontendAction.h"

namespace nvmove::plugin {

class SourceAction : public clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &Compiler,
                                                        llvm::StringRef File) override;
  bool ParseArgs(const clang::CompilerInstance &Compiler,
                 const std::vector<std::string> &Arguments) override;
  ActionType getActionType() override { return AddBeforeMainAction; }
};

} // namespace nvmove::plugin
