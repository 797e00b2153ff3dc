// Where the parts of nvmove are: see Invocation.h.
#include "Invocation.h"

#include <filesystem>

namespace nvmove::driver {
namespace {

namespace fs = std::filesystem;

std::string firstThatExists(const fs::path &Root, const std::vector<std::string> &Names) {
  for (const std::string &Name : Names)
    if (fs::path Path = Root / Name; fs::exists(Path))
      return Path.lexically_normal().string();
  return "";
}

} // namespace

Installation findInstallation(bool Cxx) {
  Installation Found;
  std::error_code Ignored;
  fs::path Root = fs::read_symlink("/proc/self/exe", Ignored).parent_path().parent_path();
  const std::string Lib = NVMOVE_LIBDIR; // of an installation; a build tree has lib/nvmove
  Found.Clang = Cxx ? NVMOVE_CLANG "++" : NVMOVE_CLANG;
  Found.Plugin = firstThatExists(
      Root, {Lib + "/nvmove/libnvmove_plugin.so", "lib/nvmove/libnvmove_plugin.so"});
  Found.Runtime = firstThatExists(Root, {"lib/nvmove/libnvmove.a", Lib + "/libnvmove.a"});
  Found.Admin = firstThatExists(Root, {"lib/nvmove/libnvmove_admin.a", Lib + "/libnvmove_admin.a"});
  Found.Raw = firstThatExists(Root, {"lib/nvmove/libnvmove_raw.a", Lib + "/libnvmove_raw.a"});
  Found.Outputs =
      firstThatExists(Root, {"lib/nvmove/libnvmove_outputs.a", Lib + "/libnvmove_outputs.a"});
  Found.Observe =
      firstThatExists(Root, {"lib/nvmove/libnvmove_observe.a", Lib + "/libnvmove_observe.a"});
  Found.Include = firstThatExists(Root, {"include/nvmove/nvmove.h"});
  if (!Found.Include.empty())
    Found.Include = (Root / "include").lexically_normal().string();
  Found.Cxx = firstThatExists(Root, {"share/nvmove/libstdc++"});
  Found.Undefined = firstThatExists(Root, {"share/nvmove/libnvmove.undefined"});
  for (const char *Name : {"libc.unsafe", "libstdc++.unsafe", "nvmove.unsafe"})
    Found.UnsafeFiles.push_back(firstThatExists(Root, {std::string("share/nvmove/") + Name}));
  return Found;
}

} // namespace nvmove::driver
