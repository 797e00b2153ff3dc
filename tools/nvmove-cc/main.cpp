// nvmove-cc, nvmove-c++: clang with the nvmove plugin and libnvmove, to be used as CC and CXX.
//
// Parses its own options, composes one clang command and becomes that process. It reads no source
// and leaves no file behind. NVMOVE_DISABLE=1 makes it plain clang.
#include "Invocation.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace nvmove::driver;

namespace {

constexpr int UsageError = 2;

int fail(const std::string &Name, const std::string &What) {
  fprintf(stderr, "%s: error: %s\n", Name.c_str(), What.c_str());
  return UsageError;
}

int help(const std::string &Name) {
  printf("usage: %s [--nvmove-OPTION...] [clang's options] FILE...\n\n"
         "Compiles with clang so that every write to persistent memory is failure-atomic.\n\n",
         Name.c_str());
  for (const OwnOption &O : OwnOptions) {
    std::string Spelling = "--nvmove-" + std::string(O.Name);
    if (!O.Value.empty())
      Spelling += "=" + std::string(O.Value);
    printf("  %-38s %s\n", Spelling.c_str(), std::string(O.Text).c_str());
  }
  printf("\nNVMOVE_DISABLE=1 in the environment: plain clang. Version " NVMOVE_VERSION ".\n");
  return 0;
}

int become(const std::string &Name, const std::vector<std::string> &Command) {
  std::vector<char *> Arguments;
  for (const std::string &Argument : Command)
    Arguments.push_back(const_cast<char *>(Argument.c_str()));
  Arguments.push_back(nullptr);
  execvp(Arguments[0], Arguments.data());
  return fail(Name, "cannot run " + Command[0] + ": " + strerror(errno));
}

} // namespace

int main(int Count, char **Values) {
  std::string Name = Count ? Values[0] : "nvmove-cc";
  Name = Name.substr(Name.find_last_of('/') + 1);
  bool Cxx = Name.find("++") != std::string::npos;

  Invocation I = parse({Values + (Count > 0), Values + Count});
  if (!I.Error.empty())
    return fail(Name, I.Error);
  if (I.Help)
    return help(Name);
  std::string Error;
  std::vector<std::string> Command = compose(I, findInstallation(Cxx), Error);
  if (!Error.empty())
    return fail(Name, Error);
  const char *Weight = I.WarningsFail ? "error" : "warning";
  for (const std::string &File : I.Assembler)
    fprintf(stderr, "%s: %s: %s: assembler may write persistent memory that nothing logs\n",
            Name.c_str(), Weight, File.c_str());
  for (const std::string &File : I.Uncharged)
    fprintf(stderr, "%s: %s: %s: not compiled with --emulate: its accesses are not charged\n",
            Name.c_str(), Weight, File.c_str());
  if (I.WarningsFail && (!I.Assembler.empty() || !I.Uncharged.empty()))
    return 1;
  if (I.Verbose)
    fprintf(stderr, "%s: %s\n", Name.c_str(), quoted(Command).c_str());
  return become(Name, Command);
}
