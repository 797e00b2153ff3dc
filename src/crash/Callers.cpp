// Return addresses to places in the source: see Callers.h.
#include "crash/Callers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"

#include <tuple>

namespace nvmove::crash {
namespace {

constexpr size_t CallersMax = 8; ///< that are named; a reader knows the way from there

using Named = std::vector<std::pair<Site, std::string>>;

/// The functions around a return address, the innermost first; more than one where calls were
/// inlined.
llvm::DIInliningInfo lookUp(llvm::symbolize::LLVMSymbolizer &Symbols, llvm::StringRef Caller) {
  auto [Module, Text] = Caller.rsplit('+');
  llvm::object::SectionedAddress InCall;
  if (Text.getAsInteger(0, InCall.Address) || !InCall.Address)
    return {};
  --InCall.Address; // what is returned to is behind the call
  auto Found = Symbols.symbolizeInlinedCode(Module.str(), InCall);
  if (!Found) {
    llvm::consumeError(Found.takeError()); // the module is gone: the finding stands without it
    return {};
  }
  return std::move(*Found);
}

Named callersOf(llvm::symbolize::LLVMSymbolizer &Symbols, const Point &P) {
  Named Made;
  bool IsPlace = P.Where; // the first is the function that the place itself is in
  for (const std::string &Caller : P.Callers) {
    llvm::DIInliningInfo Around = lookUp(Symbols, Caller);
    for (uint32_t I = 0; I < Around.getNumberOfFrames(); ++I) {
      const llvm::DILineInfo &Info = Around.getFrame(I);
      if (Info.FunctionName == "start_thread") // the C library's, of every thread
        return Made;
      bool IsKnown = Info.FileName != llvm::DILineInfo::BadString && Info.Line;
      if (!IsPlace && IsKnown) {
        if (Made.size() == CallersMax)
          return Made;
        Made.push_back(
            {{Info.FileName, "", Info.Line, Info.Column}, "called from " + Info.FunctionName});
      }
      IsPlace = false;
      if (Info.FunctionName == "main")
        return Made;
    }
  }
  return Made;
}

bool isSame(const std::pair<Site, std::string> &A, const std::pair<Site, std::string> &B) {
  return std::tie(A.first.File, A.first.Line, A.first.Column) ==
         std::tie(B.first.File, B.first.Line, B.first.Column);
}

/// What the compiler and the C library bring along, and is inlined into the program's code.
bool isOfSystem(llvm::StringRef File) {
  return File.starts_with("/usr/include/") || File.starts_with("/usr/lib/") ||
         File.contains("/include/c++/");
}

/// The finding stands at the program's own line, not in a header that it includes.
void leaveHeaders(Result &R, Finding &F) {
  if (!F.Where || !isOfSystem(F.Where->File))
    return;
  auto Own = llvm::find_if(F.Callers, [](const auto &C) { return !isOfSystem(C.first.File); });
  if (Own == F.Callers.end())
    return;
  F.Notes.insert(F.Notes.begin(), {F.Where, "there, in a header of the system"});
  F.Where = &R.Places.emplace_back(std::move(Own->first));
  F.Callers.erase(F.Callers.begin(), std::next(Own));
}

/// A reader who mends one call has to know of the others.
void noteOthers(llvm::symbolize::LLVMSymbolizer &Symbols, const Trace &T, Result &R, Finding &F) {
  constexpr size_t NamedMax = 3;
  Named Had;
  for (const OtherCalls &Other : F.Others) {
    auto Found = T.Points.find(Other.Point);
    if (Found == T.Points.end())
      continue;
    Named Callers = callersOf(Symbols, Found->second);
    size_t At = 0;
    while (At < Callers.size() && At < F.Callers.size() && isSame(Callers[At], F.Callers[At]))
      ++At;
    if (At == Callers.size() ||
        llvm::any_of(Had, [&](const auto &Each) { return isSame(Each, Callers[At]); }))
      continue;
    Had.push_back(Callers[At]);
    if (Had.size() > NamedMax) {
      F.Notes.emplace_back(nullptr, "and from further calls");
      return;
    }
    F.Notes.emplace_back(&R.Places.emplace_back(Callers[At].first), "also " + Callers[At].second);
  }
}

} // namespace

void nameCallers(const Trace &T, Result &R) {
  llvm::symbolize::LLVMSymbolizer::Options Options;
  Options.Demangle = true;
  llvm::symbolize::LLVMSymbolizer Symbols(Options);
  for (Finding &F : R.Findings) {
    auto Found = T.Points.find(F.Point);
    if (Found == T.Points.end())
      continue;
    F.Callers = callersOf(Symbols, Found->second);
    noteOthers(Symbols, T, R, F);
    if (!F.Where && !F.Callers.empty()) {
      F.Where = &R.Places.emplace_back(std::move(F.Callers.front().first));
      F.Callers.erase(F.Callers.begin());
    }
    leaveHeaders(R, F);
  }
}

} // namespace nvmove::crash
