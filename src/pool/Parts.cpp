// Which record inside of a record becomes which: see Parts.h.
#include "pool/Parts.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::pool {

namespace {

std::string prefixOf(const Part &P) { return P.Name.empty() ? "" : P.Name + "."; }

bool hasBytes(const Part &P, uint64_t Offset) {
  return Offset >= P.Offset && Offset - P.Offset < P.Size;
}

std::string wasType(const Part &P, const FieldMap &Map, bool IsNew) {
  return IsNew ? Map.wasCalled(P.Type) : P.Type;
}

/// Those of \p Parts that are base classes and have the byte, from the outermost to the innermost.
std::string basesAt(uint64_t Offset, llvm::ArrayRef<Part> Parts, const FieldMap &Map, bool IsNew) {
  std::string Path;
  for (const Part &P : Parts)
    if (P.IsBase && hasBytes(P, Offset))
      Path += (Path.empty() ? "" : "/") + wasType(P, Map, IsNew);
  return Path;
}

/// The parts that a member may belong to after its part has changed: those of its kind and type.
std::vector<const Part *> heirsOf(const Part &Was, const Level &Old, const Level &New,
                                  const FieldMap &Map) {
  auto PathOf = [&](const Part &P, const Level &In, bool IsNew) {
    return basesAt(P.Offset, llvm::ArrayRef(In.Parts.data(), &P), Map, IsNew);
  };
  std::vector<const Part *> Found;
  for (const Part &P : New.Parts)
    if (P.IsBase == Was.IsBase && Map.wasCalled(P.Type) == Was.Type &&
        (!P.IsBase || PathOf(P, New, true) == PathOf(Was, Old, false)))
      Found.push_back(&P);
  return Found;
}

const Part *heirOf(const Part &Was, const Level &Old, const Level &New,
                   const std::vector<MemberPair> &Members, const FieldMap &Map) {
  const Part *Heir = nullptr;
  std::vector<const Part *> Heirs = heirsOf(Was, Old, New, Map);
  for (const MemberPair &M : Members) {
    if (!nameIn(Was, M.From))
      continue;
    for (const Part *P : Heirs) {
      if (!nameIn(*P, M.To) || P == Heir)
        continue;
      if (Heir)
        return nullptr;
      Heir = P;
    }
  }
  if (llvm::any_of(Old.Members, [&](const Member &M) { return nameIn(Was, M).has_value(); }))
    return Heir;
  auto Alike = llvm::find_if(Heirs, [&](const Part *P) { return P->Name == Was.Name; });
  return Alike == Heirs.end() ? nullptr : *Alike;
}

} // namespace

std::optional<std::string> nameIn(const Part &P, const Member &M) {
  llvm::StringRef Name = M.Name;
  if (!Name.consume_front(prefixOf(P)) || (P.IsBase && !hasBytes(P, M.Offset)))
    return std::nullopt;
  return Name.str();
}

std::vector<Context> contextsOf(const Member &M, const Level &In) {
  std::vector<Context> Found;
  for (const auto &[Type, Prefix] : In.Outer)
    Found.push_back({Type, Prefix, M.Name});
  if (!In.Prefix.empty() && !In.Type.empty())
    Found.push_back({In.Type, "", M.Name});
  for (const Part &P : In.Parts) // before those in it
    if (std::optional<std::string> Name = nameIn(P, M))
      Found.push_back({P.Type, "", *Name});
  return Found;
}

Level elementsOf(const Member &Array, const Level &In) {
  Level Elements{Array.Inner, Array.Parts, Array.Type, In.Base + Array.Offset,
                 In.Prefix + Array.Name + "[]."};
  for (const Context &C : contextsOf(Array, In))
    Elements.Outer.emplace_back(C.Type, C.Prefix + C.Name + "[].");
  return Elements;
}

std::string ownerOf(const Member &M, const Level &In, const FieldMap &Map, bool IsNew) {
  return basesAt(M.Offset, In.Parts, Map, IsNew);
}

std::vector<PartPair> pairParts(const Level &Old, const Level &New,
                                const std::vector<MemberPair> &Members, const FieldMap &Map) {
  std::vector<PartPair> Pairs;
  for (const Part &Was : Old.Parts) {
    const Part *Heir = heirOf(Was, Old, New, Members, Map);
    Pairs.push_back({Was.Type, Was.Offset, Was.Size,
                     Heir ? std::optional(Heir->Offset) : std::nullopt, Heir ? Heir->Size : 0});
  }
  return Pairs;
}

} // namespace nvmove::pool
