// The file of one process (runtime/observe/writing.c has its form): see Observation.h.
#include "observe/Observation.h"
#include "observe/Sum.h"
#include "observe/Variables.h"
#include "support/Failed.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nvmove::observe {

using support::failed;
namespace {

constexpr llvm::StringRef First = "nvmove-observation 1", Last = "done";

/// A module, as it was mapped into the process.
struct Part {
  uint64_t Base = 0, Start = 0, End = 0;
  std::string Path;
};

using Words = llvm::SmallVector<llvm::StringRef, 48>;

class Reader {
public:
  Reader(Observation &O, std::string Path) : O(O), Path(std::move(Path)) {
    Options.Demangle = true;
    Symbols = std::make_unique<llvm::symbolize::LLVMSymbolizer>(Options);
  }

  llvm::Error read() {
    auto Text = llvm::MemoryBuffer::getFile(Path);
    if (!Text)
      return failed(Path + ": " + Text.getError().message());
    llvm::SmallVector<llvm::StringRef, 0> Lines;
    (*Text)->getBuffer().split(Lines, '\n', -1, false);
    if (Lines.empty() || Lines.front() != First)
      return failed(Path + ": no file of an observed process");
    if (Lines.back() != Last)
      return failed(Path + ": it ends early: the disk was full, or the file was cut");
    for (size_t I = 1; I + 1 < Lines.size(); ++I) {
      Words W;
      Lines[I].split(W, ' ');
      if (!take(Lines[I], W))
        return failed(Path + ":" + llvm::Twine(I + 1) + ": not understood: " + Lines[I]);
    }
    sumUp();
    return llvm::Error::success();
  }

private:
  bool take(llvm::StringRef Line, const Words &W) {
    if (W[0] == "program") {
      Found.Program = Line.drop_front(W[0].size() + 1).str();
      return true;
    }
    if (W[0] == "end") {
      Found.Killed = W.size() == 2 && W[1] == "killed";
      return W.size() == 2;
    }
    if (W[0] == "points")
      return W.size() == 2 && !W[1].getAsInteger(10, Found.Points);
    if (W[0] == "part")
      return takePart(W);
    if (W[0] == "stack")
      return takeStack(W);
    return W[0] == "edge" && takeEdge(W);
  }

  bool takePart(const Words &W) {
    Part P;
    if (W.size() < 6 || W[1].getAsInteger(16, P.Base) || W[2].getAsInteger(16, P.Start) ||
        W[3].getAsInteger(16, P.End))
      return false;
    P.Path = llvm::join(W.begin() + 5, W.end(), " ");
    if (P.Path == "-")
      P.Path = Found.Program;
    Parts.push_back(std::move(P));
    return true;
  }

  bool takeStack(const Words &W) {
    Stack S;
    uint64_t Number, Alive;
    uint64_t *const Numbers[] = {&Number,          &S.Made,        &S.Bytes,    &S.FreedEarly,
                                 &S.FreedUnlinked, &S.FreedLinked, &Alive,      &S.AliveMost,
                                 &S.LinkedMost,    &S.SizeLeast,   &S.SizeMost, &S.WaitFirst,
                                 &S.WaitLast};
    if (W.size() < 1 + std::size(Numbers))
      return false;
    for (size_t I = 0; I < std::size(Numbers); ++I)
      if (W[1 + I].getAsInteger(10, *Numbers[I]))
        return false;
    S.Left = Alive;
    for (size_t I = 1 + std::size(Numbers); I < W.size(); ++I) {
      uint64_t Address;
      if (W[I].getAsInteger(16, Address))
        return false;
      addCalls(S.Calls, Address);
    }
    Place[Number] = Found.Stacks.size();
    Found.Stacks.push_back(std::move(S));
    return true;
  }

  bool takeEdge(const Words &W) {
    Link L;
    uint64_t From, To;
    if (W.size() != 8 || W[2].getAsInteger(W[1] == "b" ? 10 : 16, From) ||
        W[3].getAsInteger(10, L.Offset) || W[4].getAsInteger(10, To) ||
        W[5].getAsInteger(10, L.Most) || W[6].getAsInteger(10, L.Since) ||
        W[7].getAsInteger(10, L.Until) || !Place.count(To))
      return false;
    L.To = Place[To];
    if (W[1] == "b") {
      if (!Place.count(From))
        return false;
      L.Kind = Link::Holder::Blocks;
      L.From = Place[From];
    } else if (W[1] == "f") {
      L.Kind = Link::Holder::Frame;
      std::vector<Call> Calls;
      addCalls(Calls, From);
      if (Calls.empty() || Calls.back().File.empty())
        return true; // the C library's frames
      L.Name = Calls.back().Function;
    } else {
      nameVariable(L, From);
      if (L.Name.empty())
        return true; // a library's own, of no name
    }
    Found.Links.push_back(std::move(L));
    return true;
  }

  const Part *partOf(uint64_t Address) const {
    for (const Part &P : Parts)
      if (P.Start <= Address && Address < P.End)
        return &P;
    return nullptr;
  }

  /// The calls around a return address; several where calls were inlined.
  void addCalls(std::vector<Call> &Calls, uint64_t Address) {
    auto [At, IsNew] = Known.try_emplace(Address);
    if (IsNew)
      At->second = lookUp(Address);
    Calls.insert(Calls.end(), At->second.begin(), At->second.end());
  }

  /// A module whose sources are not the user's, or a header that came with it.
  static bool isOfSystem(llvm::StringRef Path) {
    return Path.starts_with("/lib") || Path.starts_with("/usr/lib") ||
           Path.starts_with("/usr/include");
  }

  std::vector<Call> lookUp(uint64_t Address) {
    std::vector<Call> Calls;
    const Part *P = partOf(Address - 1); // what is returned to is behind the call
    if (!P)
      return Calls;
    auto Around = Symbols->symbolizeInlinedCode(P->Path, {Address - 1 - P->Base});
    if (!Around) {
      llvm::consumeError(Around.takeError());
      return Calls;
    }
    for (uint32_t I = 0; I < Around->getNumberOfFrames(); ++I) {
      const llvm::DILineInfo &Info = Around->getFrame(I);
      if (Info.FunctionName == llvm::DILineInfo::BadString || isOfSystem(Info.FileName))
        continue;
      bool HasFile =
          Info.FileName != llvm::DILineInfo::BadString && Info.Line && !isOfSystem(P->Path);
      Calls.push_back({Info.FunctionName, HasFile ? Info.FileName : "", HasFile ? Info.Line : 0});
      if (HasFile)
        addFile(Info.FileName);
    }
    return Calls;
  }

  void addFile(const std::string &Name) {
    auto [At, IsNew] = Found.Files.try_emplace(Name);
    if (!IsNew)
      return;
    if (auto Text = llvm::MemoryBuffer::getFile(Name)) {
      llvm::MD5 Hash;
      Hash.update((*Text)->getBuffer());
      llvm::MD5::MD5Result Result = Hash.final();
      At->second = Result.digest().str().str();
    }
  }

  /// Of the program and its own libraries.
  void nameVariable(Link &L, uint64_t Address) {
    const Part *P = partOf(Address);
    if (!P || isOfSystem(P->Path))
      return;
    L.Name = Names.at(P->Path, Address - P->Base);
  }

  void sumUp() {
    Found.Runs = 1;
    Observation Whole; // calls that differ in their addresses only become one
    addObservation(Whole, Found, /*SameRun=*/true);
    addObservation(O, Whole);
  }

  Observation &O;
  Observation Found;
  std::string Path;
  llvm::symbolize::LLVMSymbolizer::Options Options;
  std::unique_ptr<llvm::symbolize::LLVMSymbolizer> Symbols;
  Variables Names;
  std::vector<Part> Parts;
  std::map<uint64_t, unsigned> Place;          ///< Of a stack's number: where it is in Stacks.
  std::map<uint64_t, std::vector<Call>> Known; ///< By return address.
};

} // namespace

llvm::Error addRaw(Observation &O, const std::string &Path) { return Reader(O, Path).read(); }

} // namespace nvmove::observe
