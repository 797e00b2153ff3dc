// Marks of accesses: see Marks.h.
#include "emulation/Marks.h"

#include "base/Frontend.h"
#include "base/Settings.h"
#include "emit/Sites.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

constexpr const char *LoadMark = "nvmove.emulated-load:", *StoreMark = "nvmove.emulated-store:",
                     *VolatileMark = "nvmove.emulated-volatile:";
/// Of a call: a bit for each argument that goes through one of the types.
constexpr const char *ArgumentsMark = "nvmove.announced-arguments";
constexpr unsigned ArgumentsMax = 64;

/// A stack keeps nothing, and so does a volatile field.
bool lasts(const Access &A, const RecordNames &Wanted) {
  if (isa<AllocaInst>(getUnderlyingObject(A.Address)))
    return false;
  const auto &Fields = frontendFacts().StoredFields;
  auto Field = isa<StoreInst>(A.At) ? Fields.find(siteKey(*A.At)) : Fields.end();
  return Field == Fields.end() || !Wanted.isVolatile(Field->second);
}

bool isCall(const Access &A) { return isa<CallBase>(A.At) && !isa<IntrinsicInst>(A.At); }

uint64_t argumentsThrough(CallBase &Call, const RecordNames &Wanted) {
  uint64_t Through = 0;
  for (unsigned I = 0; I < std::min(Call.arg_size(), ArgumentsMax); ++I) {
    Access Of;
    Of.At = &Call;
    Of.Address = Call.getArgOperand(I);
    if (Of.Address->getType()->isPointerTy() && !recordsOf(Of, Wanted).empty())
      Through |= uint64_t(1) << I;
  }
  return Through;
}

} // namespace

std::optional<RecordNames> readTypes(Module &M) {
  RecordNames Wanted;
  for (const std::string &Path : settings().EmulateTypes)
    if (Error E = Wanted.addFile(Path)) {
      M.getContext().emitError("nvmove: " + toString(std::move(E)));
      return std::nullopt;
    }
  if (!Wanted.all().empty())
    return Wanted;
  M.getContext().emitError("nvmove: " + settings().EmulateTypes.front() +
                           ": it names volatile fields and no type; one more "
                           "--nvmove-emulate-types=FILE has the types");
  return std::nullopt;
}

Emulated emulatedOf(const Access &A, const RecordNames &Wanted) {
  Emulated E{recordsOf(A, Wanted)};
  E.Lasts = E.Types.empty() || !A.Writes || lasts(A, Wanted);
  return E;
}

void Marker::mark(const Access &A, const Emulated &E) {
  std::string Name = (!A.Writes ? LoadMark : E.Lasts ? StoreMark : VolatileMark) + E.Types;
  MDNode *&Scope = Scopes[Name];
  if (!Scope)
    Scope = Build.createAnonymousAliasScope(Domain, Name);
  Instruction &I = *A.At;
  I.setMetadata(LLVMContext::MD_alias_scope,
                MDNode::concatenate(I.getMetadata(LLVMContext::MD_alias_scope),
                                    MDNode::get(I.getContext(), {Scope})));
}

Emulated markOf(const Access &A) {
  const MDNode *Scopes = A.At->getMetadata(LLVMContext::MD_alias_scope);
  if (Scopes)
    for (const MDOperand &Scope : Scopes->operands())
      if (auto *Node = dyn_cast_or_null<MDNode>(Scope.get())) {
        StringRef Name = AliasScopeNode(Node).getName();
        if (Name.consume_front(A.Writes ? StoreMark : LoadMark))
          return {Name.str()};
        if (A.Writes && Name.consume_front(VolatileMark))
          return {Name.str(), /*Lasts=*/false};
      }
  return {};
}

bool goesThrough(const Access &A, const RecordNames &Wanted) {
  return !recordsOf(A, Wanted).empty();
}

void markReads(Module &M, const RecordNames &Wanted) {
  Marker Marks(M);
  Type *Word = Type::getInt64Ty(M.getContext());
  for (Function &F : M) {
    for (const Access &A : enumerateAccesses(F, [](const CallBase &) { return false; }))
      if (A.Address && (!A.Writes || A.Kind == AccessKind::Exchange))
        if (Emulated E = emulatedOf(A, Wanted); !E.Types.empty())
          Marks.mark(A, E);
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst>(Call))
        if (uint64_t Through = argumentsThrough(*Call, Wanted))
          Call->setMetadata(ArgumentsMark,
                            MDNode::get(M.getContext(),
                                        ConstantAsMetadata::get(ConstantInt::get(Word, Through))));
  }
}

bool isMarkedRead(const Access &A) {
  if (!isCall(A))
    return !markOf(A).Types.empty();
  const MDNode *Mark = A.At->getMetadata(ArgumentsMark);
  auto &Call = cast<CallBase>(*A.At);
  uint64_t Through = Mark ? mdconst::extract<ConstantInt>(Mark->getOperand(0))->getZExtValue() : 0;
  for (unsigned I = 0; I < std::min(Call.arg_size(), ArgumentsMax); ++I)
    if (Call.getArgOperand(I) == A.Address && Through >> I & 1)
      return true;
  return false;
}

} // namespace nvmove::plugin
