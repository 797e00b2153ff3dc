// The table of settings: see Settings.h.
#include "base/Settings.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

void addAll(StringSet<> &To, StringRef Names) {
  SmallVector<StringRef> Each;
  Names.split(Each, ',', -1, /*KeepEmpty=*/false);
  To.insert(Each.begin(), Each.end());
}

bool parseSwitch(StringRef Value, bool &To) {
  To = Value.empty() || Value == "on";
  return To || Value == "off";
}

struct Option {
  StringRef Name;
  StringRef Values;                            ///< what makes sense, for the message
  bool (*Take)(StringRef Value, Settings &To); ///< false: the value makes no sense
};

constexpr StringLiteral Functions = "names of functions, with commas between them";
constexpr StringLiteral Switch = "'on', 'off', or nothing, which is 'on'";

#define PROFILE(name, ...) name,
constexpr StringLiteral ProfileNames[] = {
#include "nvmove/profiles.def"
};
#undef PROFILE
#define PROFILE(name, ...) name ", "
constexpr StringLiteral Profiles =
#include "nvmove/profiles.def"
    "or settings such as read=200";
#undef PROFILE

const Option Options[] = {
    {"atomic", Functions, [](StringRef V, Settings &S) { return addAll(S.Atomic, V), !V.empty(); }},
    {"atomics", "'warn' or 'locked'",
     [](StringRef V, Settings &S) {
       S.LockedAtomics = V == "locked";
       return S.LockedAtomics || V == "warn";
     }},
    {"checked", Switch, [](StringRef V, Settings &S) { return parseSwitch(V, S.Checked); }},
    {"commit", Functions, [](StringRef V, Settings &S) { return addAll(S.Commit, V), !V.empty(); }},
    {"emulate", Profiles,
     [](StringRef V, Settings &S) {
       StringRef First = V.split(',').first;
       S.Emulates = true;
       S.EmulateProfile = V.str();
       return First.contains('=') || is_contained(ProfileNames, First);
     }},
    {"emulate-types", "a file",
     [](StringRef V, Settings &S) { return S.EmulateTypes.push_back(V.str()), !V.empty(); }},
    {"globals", "'volatile' or 'persistent'",
     [](StringRef V, Settings &S) {
       S.GlobalsMayPersist = V == "persistent";
       return S.GlobalsMayPersist || V == "volatile";
     }},
    {"installed-unsafe", "a file",
     [](StringRef V, Settings &S) {
       S.InstalledUnsafe.insert(V);
       return S.UnsafeFiles.push_back(V.str()), !V.empty();
     }},
    {"loads", "'source' or 'optimized'",
     [](StringRef V, Settings &S) {
       S.Loads = V == "optimized" ? Settings::Accesses::Optimized : Settings::Accesses::Source;
       return V == "optimized" || V == "source";
     }},
    {"port", "a file", [](StringRef V, Settings &S) { return S.Port = V.str(), !V.empty(); }},
    {"redirect", Switch, [](StringRef V, Settings &S) { return parseSwitch(V, S.Redirect); }},
    {"remarks", Switch, [](StringRef V, Settings &S) { return parseSwitch(V, S.Remarks); }},
    {"split", Functions, [](StringRef V, Settings &S) { return addAll(S.Split, V), !V.empty(); }},
    {"trace", "'on', 'off', 'raw', or nothing, which is 'on'",
     [](StringRef V, Settings &S) {
       S.Raw = V == "raw";
       return parseSwitch(S.Raw ? "off" : V, S.Trace) || S.Raw;
     }},
    {"unsafe", "a file",
     [](StringRef V, Settings &S) { return S.UnsafeFiles.push_back(V.str()), !V.empty(); }},
    {"warnings", "'on', 'off', 'error', or nothing, which is 'on'",
     [](StringRef V, Settings &S) {
       S.WarningsFail = V == "error";
       return parseSwitch(S.WarningsFail ? "on" : V, S.Warnings);
     }},
};

} // namespace

Settings &settings() {
  static Settings Instance;
  return Instance;
}

Error parseSetting(StringRef Argument, Settings &To) {
  auto [Name, Value] = Argument.split('=');
  for (const Option &O : Options)
    if (O.Name == Name)
      return O.Take(Value, To) ? Error::success()
                               : createStringError("value of '--nvmove-" + Argument +
                                                   "' not understood; it is " + O.Values);
  return createStringError("unknown option '--nvmove-" + Argument + "'");
}

std::vector<std::string> settingNames() {
  std::vector<std::string> Names;
  for (const Option &O : Options)
    Names.push_back(O.Name.str());
  return Names;
}

} // namespace nvmove::plugin
