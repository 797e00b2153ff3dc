// Pointers to where nothing is allocated: see Dangling.h.
#include "crash/Dangling.h"

#include "crash/Findings.h"
#include "crash/FreedBlocks.h"
#include "crash/Inspection.h"

#include "nvmove/inspect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

constexpr size_t FieldsMax = 4; ///< of one free that are named
constexpr uint64_t AddressMask = (uint64_t(1) << 47) - 1;

/// The committed data, as far as it is addresses of the pool.
class Words {
public:
  /// \p M has all of it.
  llvm::Error restart(const Media &M, uint64_t PoolSize, uint64_t PoolBase) {
    llvm::Expected<std::unique_ptr<Media>> Copy = M.copy();
    if (!Copy)
      return Copy.takeError();
    Committed = std::move(*Copy);
    Size = PoolSize;
    Base = PoolBase;
    ByTarget.clear();
    int Fd = open(Committed->path().c_str(), O_RDONLY | O_CLOEXEC);
    for (off_t At = 0, End; (At = lseek(Fd, At, SEEK_DATA)) >= 0; At = End) {
      End = lseek(Fd, At, SEEK_HOLE);
      for (auto Place = static_cast<uint64_t>(At); Place + 8 <= static_cast<uint64_t>(End);
           Place += 8)
        add(Place);
    }
    close(Fd);
    return llvm::Error::success();
  }

  void store(uint64_t Line, const LineBytes &New) {
    for (unsigned Word = 0; Word < LineSize; Word += 8) {
      if (!(New.Mask >> Word & 0xff))
        continue;
      uint64_t Place = Line * LineSize + Word;
      if (auto Old = targetAt(Place))
        ByTarget.erase({*Old, Place});
      for (unsigned I = Word; I < Word + 8; ++I)
        if (New.Mask >> I & 1)
          Committed->data()[Line * LineSize + I] = New.Bytes[I];
      add(Place);
    }
  }

  /// Where in the pool the word at \p Place leads, without a tag in its highest bits.
  std::optional<uint64_t> targetAt(uint64_t Place) const {
    uint64_t Value;
    std::memcpy(&Value, Committed->data() + Place, sizeof Value);
    uint64_t Target = (Value & AddressMask) - Base;
    return Target < Size ? std::optional(Target) : std::nullopt;
  }

  /// The words that lead to a block.
  template <class F> void each(uint64_t Block, uint64_t Bytes, F Take) const {
    for (auto At = ByTarget.lower_bound({Block, 0});
         At != ByTarget.end() && At->first < Block + Bytes; ++At)
      Take(At->second);
  }

private:
  void add(uint64_t Place) {
    if (auto Target = targetAt(Place))
      ByTarget.insert({*Target, Place});
  }

  std::unique_ptr<Media> Committed;
  uint64_t Size = 0, Base = 0;
  std::set<std::pair<uint64_t, uint64_t>> ByTarget; ///< and place
};

class Search {
public:
  Search(const Trace &T, const History &H, const Stores &All, const Options &O, Result &R)
      : T(T), H(H), All(All), O(O), R(R) {}

  llvm::Error run() {
    llvm::Expected<std::unique_ptr<Media>> Made = Media::make(T);
    if (!Made)
      return Made.takeError();
    M = std::move(*Made);
    uint64_t Base = T.Base;
    for (At = 0; At < T.Events.size(); ++At) {
      const Event &E = T.Events[At];
      M->storeFlat(E, T.Apart);
      if (E.Kind == NVM_TRACE_FREE)
        LastFree[E.Place] = siteOfFree(E);
      else if (E.Kind == NVM_TRACE_REOPEN && E.Extra)
        Base = E.Extra;
      else if (E.Kind == NVM_TRACE_OPENED)
        if (llvm::Error Failed = restart(Base))
          return Failed;
      for (; Next < H.size() && H.transaction(Next).End <= At; ++Next)
        if (!take(H.transaction(Next)))
          return llvm::Error::success();
    }
    return llvm::Error::success();
  }

private:
  llvm::Error restart(uint64_t Base) {
    IsOpen = true;
    Freed.clear();
    Live.clear();
    std::string Said = inspect(M->path(), [](NVM_POOL *Pool, llvm::raw_ostream &OS) {
      nvm_pool_each_block(
          Pool, /*reach=*/false,
          [](void *Into, const nvm_block *Block) {
            *static_cast<llvm::raw_ostream *>(Into) << Block->offset << ' ' << Block->size << '\n';
            return true;
          },
          &OS);
    });
    for (llvm::StringRef Rest = Said; !Rest.empty(); Rest = Rest.ltrim("\n")) {
      uint64_t Place = 0, Bytes = 0;
      if (Rest.consumeInteger(10, Place) || !Rest.consume_front(" ") ||
          Rest.consumeInteger(10, Bytes))
        break;
      Live[Place] = Bytes;
    }
    return Known.restart(*M, T.SizeMax, Base);
  }

  /// One to the end of a block, where an array may end, is asked for a few times.
  bool leadsSomewhere(uint64_t Target) {
    constexpr size_t EndsMax = 200;
    auto Behind = Live.upper_bound(Target);
    if (Behind == Live.begin() || Freed.at(Target))
      return false;
    uint64_t End = std::prev(Behind)->first + std::prev(Behind)->second;
    return Target < End || (Target == End && ++Ends > EndsMax);
  }

  /// False: nobody wants to know more.
  bool take(const Transaction &C) {
    if (!IsOpen)
      return true;
    for (const auto &[Line, New] : C.Lines)
      Known.store(Line, New);
    for (auto [Place, Bytes] : C.Allocated) {
      Freed.forget(Place, Bytes);
      Live[Place] = Bytes;
      Untyped.erase(Untyped.lower_bound(Place), Untyped.lower_bound(Place + Bytes));
    }
    std::set<uint64_t> Suspects;
    for (auto [Place, Bytes] : C.Freed) {
      Freed.add(Place, {Bytes, Next, T.site(LastFree[Place]), false});
      Live.erase(Place);
      Known.each(Place, Bytes, [&](uint64_t Word) { Suspects.insert(Word); });
    }
    for (const auto &[Line, New] : C.Lines)
      for (uint64_t Word = Line * LineSize; Word < (Line + 1) * LineSize; Word += 8)
        if (auto Target = New.Mask >> Word % LineSize & 0xff ? Known.targetAt(Word) : std::nullopt;
            Target && !leadsSomewhere(*Target))
          Suspects.insert(Word);
    for (auto Word = Suspects.begin(); Word != Suspects.end();)
      Word = Freed.at(*Word) || Untyped.count(*Word) ? Suspects.erase(Word) : std::next(Word);
    if (Suspects.empty())
      return true;
    if (O.Watching && !O.Watching->goesOn(At, R.States))
      return false;
    ask(Suspects, C);
    return true;
  }

  void ask(const std::set<uint64_t> &Suspects, const Transaction &C) {
    std::string Said = inspect(M->path(), [&](NVM_POOL *Pool, llvm::raw_ostream &OS) {
      auto Report = [&](const nvm_bad_pointer *Bad) {
        if (Bad->is_dangling && Suspects.count(Bad->offset))
          OS << Bad->offset << ' ' << Bad->leads_to << ' ' << fieldAt(Pool, Bad->offset) << '\n';
      };
      nvm_pool_each_bad_pointer(
          Pool,
          [](void *Context, const nvm_bad_pointer *Bad) {
            (*static_cast<decltype(Report) *>(Context))(Bad);
          },
          &Report);
      auto Each = [&](const nvm_block *Block) {
        for (auto Word = Suspects.lower_bound(Block->offset);
             !Block->type && Word != Suspects.end() && *Word < Block->offset + Block->size; ++Word)
          OS << *Word << '\n';
      };
      nvm_pool_each_block(
          Pool, /*reach=*/false,
          [](void *Context, const nvm_block *Block) {
            (*static_cast<decltype(Each) *>(Context))(Block);
            return true;
          },
          &Each);
    });
    llvm::SmallVector<llvm::StringRef> Lines;
    llvm::StringRef(Said).split(Lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef Line : Lines) {
      uint64_t Place = 0, Target = 0;
      Line.consumeInteger(10, Place);
      Line = Line.ltrim();
      if (Line.empty())
        Untyped.insert(Place);
      else if (!Line.consumeInteger(10, Target))
        tell(Place, Target, Line.ltrim(), C);
    }
  }

  static std::string fieldAt(NVM_POOL *Pool, uint64_t Place) {
    std::string Name = nameOf(Pool, Place);
    return Name.empty() ? "the root" : Name; // the only pointer that lies in no block
  }

  void tell(uint64_t Place, uint64_t Target, llvm::StringRef Name, const Transaction &C) {
    const FreedBlock *Block = Freed.at(Target);
    Guilty Who = All.of(Place, At);
    bool IsNew = Block && Block->By == Next; // this transaction frees it
    const Site *Where = IsNew && Block->Where ? Block->Where : Who.Where;
    Finding F{Kind, Name.str(), Where, {}, 1, At};
    F.Point = IsNew && Block->Where ? LastFree[placeOf(C, Target)] : Who.Point;
    for (Finding &Known : R.Findings)
      if (Known.Kind == Kind && Known.Where == Where) {
        addField(Known, Name, Who.Where);
        addCalls(Known, F);
        return;
      }
    F.Message +=
        IsNew   ? " still leads to this block when the transaction that frees it has committed"
        : Block ? " leads to a block that is free when the transaction has committed"
                : " leads to where nothing is allocated when the transaction has committed";
    F.Message += ": after a crash, as in the run, it points to nothing";
    if (IsNew && Who.Where)
      F.Notes.push_back({Who.Where, "the pointer was stored here"});
    if (!IsNew && Block && Block->Where)
      F.Notes.push_back({Block->Where, "the block was freed here"});
    if (const Site *Commit = T.site(T.Events[C.Committing].Extra); Commit && Commit->Line)
      F.Notes.push_back({Commit, "the transaction commits here"});
    Named[Where].insert(Name.str());
    addFinding(R, std::move(F));
  }

  static uint64_t placeOf(const Transaction &C, uint64_t Target) {
    for (auto [Place, Bytes] : C.Freed)
      if (Target - Place < Bytes)
        return Place;
    return 0;
  }

  void addField(Finding &F, llvm::StringRef Name, const Site *Stored) {
    ++F.Count;
    std::set<std::string> &Fields = Named[F.Where];
    if (Fields.size() < FieldsMax && Fields.insert(Name.str()).second)
      F.Notes.push_back(
          {Stored, ("so does " + Name + (Stored ? ", which was stored here" : "")).str()});
  }

  static constexpr const char *Kind = "dangling pointer";

  const Trace &T;
  const History &H;
  const Stores &All;
  const Options &O;
  Result &R;
  std::unique_ptr<Media> M; ///< all that was stored
  Words Known;
  FreedBlocks Freed;
  std::map<uint64_t, uint64_t> Live; ///< allocated blocks: place, bytes
  size_t Ends = 0;                   ///< pointers to ends of blocks that were asked for
  std::set<uint64_t> Untyped; ///< words of blocks without type: they are not asked about again
  llvm::DenseMap<uint64_t, uint64_t> LastFree; ///< block -> number of the site
  std::map<const Site *, std::set<std::string>> Named;
  size_t At = 0, Next = 0;
  bool IsOpen = false;
};

} // namespace

void findDangling(const Trace &T, const History &H, const Stores &All, const Options &O,
                  Result &R) {
  if (!H.size())
    return;
  if (llvm::Error Failed = Search(T, H, All, O, R).run())
    R.NotDone.push_back("pointers to freed blocks: " + llvm::toString(std::move(Failed)));
}

} // namespace nvmove::crash
