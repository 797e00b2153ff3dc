// Variables and their members by address, from the debug information of a program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace nvmove::observe {

class Variables {
public:
  Variables();
  ~Variables();
  /// What lies at an address of a module, as the file has it: "head", "server.db",
  /// "table.slots[].first"; "" where nothing is known. An optimiser may have split the variable.
  std::string at(const std::string &Module, uint64_t Address);

private:
  struct Module;
  std::map<std::string, std::unique_ptr<Module>> Modules;
};

} // namespace nvmove::observe
