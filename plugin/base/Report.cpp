// Counters, remarks and warnings: see Report.h.
#include "base/Report.h"

#include "base/Advice.h"
#include "base/Frontend.h"
#include "base/Settings.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

struct OutcomeText {
  Outcome What;
  StringRef Remark; ///< name of the optimisation remark
  StringRef Text;
  bool Instrumented;
};

const OutcomeText OutcomeTexts[] = {
    {Outcome::Noted, "Noted", "noted", true},
    {Outcome::NotedOnce, "NotedOnce", "noted once before its loop", true},
    {Outcome::Stack, "Stack", "stack", false},
    {Outcome::Global, "Global", "global variable", false},
    {Outcome::VolatileHeap, "VolatileHeap", "volatile heap", false},
    {Outcome::VolatileField, "VolatileField", "volatile field", false},
    {Outcome::OtherSpace, "OtherSpace", "other address space", false},
    {Outcome::Null, "Null", "null address", false},
    {Outcome::Covered, "Covered", "already noted", false},
    {Outcome::NothingWritten, "NothingWritten", "call that writes nothing", false},
    {Outcome::Warned, "Warned", "warned about", false},
};
static_assert(std::size(OutcomeTexts) == static_cast<size_t>(Outcome::Count));

} // namespace

void Report::count(Outcome What, Instruction &At, OptimizationRemarkEmitter &Remarks) {
  ++Counts[static_cast<size_t>(What)];
  const OutcomeText &E = OutcomeTexts[static_cast<size_t>(What)];
  if (E.Instrumented)
    Remarks.emit([&] { return OptimizationRemark("nvmove", E.Remark, &At) << "write " << E.Text; });
  else
    Remarks.emit([&] {
      return OptimizationRemarkMissed("nvmove", E.Remark, &At) << "write skipped: " << E.Text;
    });
}

void Report::warn(Instruction &At, const Twine &Message) {
  if (!settings().Warnings)
    return;
  // Code that was inlined here and there is at one place in the source.
  if (const DILocation *Place = At.getDebugLoc())
    if (!Warned
             .insert((Place->getFilename() + ":" + Twine(Place->getLine()) + ":" +
                      Twine(Place->getColumn()) + ": " + Message)
                         .str())
             .second)
      return;
  advise(*At.getFunction(), At.getDebugLoc(), Message);
}

void Report::warnOnce(StringRef Subject, Instruction &At, const Twine &Message) {
  if (Warned.insert(Subject).second)
    warn(At, Message);
}

void Report::warnOfTaken(Function &F, const Twine &Message) {
  if (!settings().Warnings || !Warned.insert(F.getName()).second)
    return;
  auto &Taken = frontendFacts().TakenAddresses;
  if (auto Found = Taken.find(F.getName().ltrim('\1')); Found != Taken.end())
    return adviseAt(Found->second, Message);
  for (User *U : F.users()) // where there is no front end
    if (auto *I = dyn_cast<Instruction>(U))
      if (auto *Call = dyn_cast<CallBase>(I); !Call || Call->getCalledOperand() != &F)
        return advise(*I->getFunction(), I->getDebugLoc(), Message);
}

bool Report::placedNotes() const {
  return Counts[static_cast<size_t>(Outcome::Noted)] ||
         Counts[static_cast<size_t>(Outcome::NotedOnce)];
}

void Report::summary(raw_ostream &OS) const {
  unsigned Noted = 0, Skipped = 0;
  std::string NotedText, SkippedText;
  for (const OutcomeText &E : OutcomeTexts) {
    unsigned Number = Counts[static_cast<size_t>(E.What)];
    if (!Number)
      continue;
    (E.Instrumented ? Noted : Skipped) += Number;
    std::string &Text = E.Instrumented ? NotedText : SkippedText;
    Text += (Twine(Text.empty() ? "" : ", ") + Twine(Number) + " " + E.Text).str();
  }
  OS << "nvmove: " << M.getSourceFileName() << ": " << Noted + Skipped << " writes: " << Noted
     << " noted" << (NotedText.empty() ? "" : " (" + NotedText + ")") << ", " << Skipped
     << " skipped" << (SkippedText.empty() ? "" : " (" + SkippedText + ")") << "\n";
}

} // namespace nvmove::plugin
