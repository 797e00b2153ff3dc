// Pointers to blocks of another type: see Mistyped.h.
#include "pool/Mistyped.h"

#include "pool/Members.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

namespace nvmove::pool {

namespace {

/// A member that is no record, or an array of such, by its place in its type.
struct Leaf {
  uint64_t Size = 0, Count = 1; ///< bytes of one element, elements
  bool IsPointer = false, IsOpaque = false;
};
using Leaves = std::map<uint64_t, Leaf>;

bool isPointer(const Member &M) {
  return M.Kind == "pointer" || M.Kind == "function" || M.Kind == "vtable";
}

/// What may be of any type: not a pointer, and no number but of its own kind.
bool isOpaque(const Member &M) {
  bool IsNumber = (isInteger(M.Kind) && !isCharacter(M.Kind)) || M.Kind == "float";
  return M.Bits || (!IsNumber && !isPointer(M));
}

/// Of a longer array of records the rest is opaque.
constexpr uint64_t RecordsMax = 64;

void addLeaves(const std::vector<Member> &Members, uint64_t Base, Leaves &To) {
  for (const Member &M : Members) {
    uint64_t At = Base + M.Offset;
    if (!M.Size || !M.Count)
      continue;
    if (M.Inner.empty() || M.Kind == "union") {
      To[At] = {M.Size, M.Count, isPointer(M), isOpaque(M)};
      continue;
    }
    uint64_t Expanded = std::min(M.Count, RecordsMax);
    for (uint64_t I = 0; I < Expanded; I++)
      addLeaves(M.Inner, At + I * M.Size, To);
    if (Expanded < M.Count)
      To[At + Expanded * M.Size] = {M.Size, M.Count - Expanded, false, /*IsOpaque=*/true};
  }
}

/// A type as far as it is compared.
struct Shape {
  explicit Shape(const nvm_type &Type) : Size(Type.size) {
    std::vector<Member> Members = parseRecord(Type.members).Members;
    addLeaves(Members, 0, All);
    EndsInArray = !Members.empty() && Members.back().IsArray;
    Told = EndsInArray && Members.back().IsTail ? std::min(Size, Members.back().Offset) : Size;
  }
  uint64_t Size;
  uint64_t Told;            ///< where a flexible array begins, perhaps in the padding at the end
  bool EndsInArray = false; ///< a block may have more elements than the type says
  Leaves All;
};

/// Whether a \p Pointee may lie in a \p Block from its byte \p Base on, as far as both reach.
bool agree(const Shape &Pointee, const Shape &Block, uint64_t Base) {
  for (const auto &[At, Mine] : Pointee.All) {
    uint64_t There = Base + At;
    if (There >= Block.Told)
      break;
    auto After = Block.All.upper_bound(There);
    if (After == Block.All.begin())
      return false;
    const auto &[Start, Theirs] = *std::prev(After);
    if (Mine.IsOpaque || Theirs.IsOpaque)
      continue;
    bool Begins =
        (There - Start) % Theirs.Size == 0 && (There - Start) / Theirs.Size < Theirs.Count;
    if (!Begins || Mine.Size != Theirs.Size || Mine.IsPointer != Theirs.IsPointer)
      return false;
  }
  return true;
}

struct Typed {
  uint64_t Offset, Size;
  const char *Bytes;
  const nvm_type *Type; ///< or null
};

struct Found {
  std::string First;
  uint64_t Count = 0;
};

class Search {
public:
  explicit Search(NVM_POOL *Pool)
      : Pool(Pool), Base(reinterpret_cast<uint64_t>(nvm_pool_base(Pool))) {}

  std::vector<std::string> run() {
    if (nvm_pool_each_block(Pool, /*reach=*/false, add, this) != 0)
      return {}; // the pool's checks told why
    llvm::sort(Blocks, [](const Typed &A, const Typed &B) { return A.Offset < B.Offset; });
    for (const Typed &B : Blocks)
      if (B.Type && B.Type->size)
        look(B);
    std::vector<std::string> Lines;
    for (const auto &[Field, What] : Hints)
      Lines.push_back(What.Count == 1
                          ? What.First
                          : llvm::formatv("{0} (and {1} more)", What.First, What.Count - 1).str());
    return Lines;
  }

private:
  static bool add(void *Context, const nvm_block *B) {
    auto &S = *static_cast<Search *>(Context);
    S.Blocks.push_back({B->offset, B->size, static_cast<const char *>(B->address), B->type});
    if (B->type && !S.Types.count(B->type->id))
      S.Types.emplace(B->type->id, B->type);
    return true;
  }

  const Shape &shapeOf(const nvm_type &Type) {
    return Shapes.try_emplace(Type.id, Type).first->second;
  }

  void look(const Typed &B) {
    const nvm_type &Type = *B.Type;
    bool HasTail =
        llvm::any_of(llvm::ArrayRef(Type.fields, Type.field_count),
                     [](const nvm_field &F) { return F.kind == NVM_FIELD_FLEXIBLE_ARRAY; });
    uint64_t End = HasTail ? std::min(B.Size, Type.size) : B.Size;
    for (uint64_t Record = 0; Record + Type.size <= End; Record += Type.size)
      for (const nvm_field &F : llvm::ArrayRef(Type.fields, Type.field_count)) {
        bool IsPointer = F.kind == NVM_FIELD_POINTER || F.kind == NVM_FIELD_WEAK_POINTER;
        auto Target = Types.find(F.target);
        for (uint64_t I = 0; IsPointer && !F.when && Target != Types.end() && I < F.count; I++)
          judge(B, F, *Target->second, Record + F.offset + I * F.stride);
      }
  }

  void judge(const Typed &Holder, const nvm_field &F, const nvm_type &Target, uint64_t At) {
    uint64_t Value;
    memcpy(&Value, Holder.Bytes + At, sizeof Value);
    uint64_t Offset = (Value & ~F.tag) - Base;
    auto After =
        llvm::upper_bound(Blocks, Offset, [](uint64_t O, const Typed &B) { return O < B.Offset; });
    if (!Value || After == Blocks.begin())
      return;
    const Typed &There = *std::prev(After);
    if (Offset - There.Offset >= There.Size || !There.Type || There.Type->id == Target.id ||
        !There.Type->size)
      return;
    const Shape &Block = shapeOf(*There.Type);
    uint64_t Inside = Offset - There.Offset;
    if ((Inside >= Block.Told && Block.EndsInArray) ||
        agree(shapeOf(Target), Block, Inside % Block.Size))
      return;
    Found &Hint = Hints[{Holder.Type->name, F.name, There.Type->name}];
    if (Hint.Count++ == 0)
      Hint.First =
          llvm::formatv("field {0} of {1} at {2:x} leads to {3:x}, a block of {4}, which has "
                        "nothing of {5} there",
                        F.name, Holder.Type->name, Holder.Offset + At, Offset, There.Type->name,
                        Target.name)
              .str();
  }

  NVM_POOL *Pool;
  uint64_t Base;
  std::vector<Typed> Blocks;
  std::unordered_map<uint64_t, const nvm_type *> Types;
  std::unordered_map<uint64_t, Shape> Shapes;
  std::map<std::vector<std::string>, Found> Hints;
};

} // namespace

bool mayLieIn(const nvm_type &Pointee, const nvm_type &Block, uint64_t At) {
  return agree(Shape(Pointee), Shape(Block), At);
}

std::vector<std::string> findMistyped(NVM_POOL *Pool) { return Search(Pool).run(); }

} // namespace nvmove::pool
