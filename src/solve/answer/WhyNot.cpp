// Why a type was not reported: what became of every object of it. See LeftBehind.h.
//
// Each answer is one sentence for one place that makes an object of the type, or one for the whole
// type when the visited zone makes none.
#include "solve/answer/LeftBehind.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

namespace {

/// Places told; a container library makes its type in very many visits.
constexpr size_t PlacesMax = 8;

} // namespace

std::string LeftBehind::whyNotKept(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  if (What.Kind == ObjectKind::Stack)
    return "is a local variable";
  if (What.isOlder())
    return "receives input in too few of its own fields";
  if (What.FreedAtEnd)
    return "is freed by the load function";
  if (isMachinery(Id))
    return "holds the input handle";
  if (!Reached.count(Id))
    return "is not reachable when the load returns";
  if (!Data.count(Id) && V.instance(What.Made.In).Contactless)
    return "is made without contact to the input and leads to none";
  if (keepsOnlyMachinery(Id))
    return "leads to nothing but what holds the input handle";
  return What.Types.empty() ? "is looked at as several types" : "is kept";
}

/// Functions that ask for memory of this type's size and are not visited.
std::string LeftBehind::unvisitedMakers(RecordKey Key) const {
  std::set<FunctionId> Visited = V.functions();
  std::string Names;
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
    const FunctionInfo &F = P.function(Id);
    if (Visited.count(Id) || F.Body->Symbol == None)
      continue;
    if (llvm::any_of(F.Body->Body, [&](const facts::Instruction &I) {
          return I.Code == facts::Op::SizeOf && P.named(F.shapeOf(I.Ty).Record) == Key;
        }))
      Names += (Names.empty() ? "'" : ", '") + F.Name + "'";
  }
  return Names;
}

std::vector<std::string> LeftBehind::whyNot(const std::string &Asked) const {
  llvm::StringRef Plain = llvm::StringRef(Asked).trim();
  if (!Plain.consume_front("struct "))
    Plain.consume_front("union ");
  const std::string Name = Plain.trim().str();
  std::vector<std::string> Lines;
  std::set<RecordKey> Keys;
  for (RecordKey Key = 0; Key != P.records().size(); ++Key)
    if (P.record(Key).Complete && (P.record(Key).Name == Name || P.displayName(Key) == Name ||
                                   llvm::is_contained(P.record(Key).Aliases, Name)))
      Keys.insert(Key);
  if (Keys.empty())
    return {"no struct or union of the linked program is called '" + Name + "'"};
  if (llvm::all_of(Keys, [&](RecordKey Key) { return P.record(Key).System; }))
    return {"'" + Name + "' is defined by the system's headers; such types are not reported"};
  if (llvm::any_of(Keys, [&](RecordKey Key) { return Types.count(Key); }))
    return {"'" + Name + "' is left behind"};
  std::set<std::string> Told;
  bool Made = false; // Objects that existed before only stand for what the load finds.
  for (ObjectId Id = 0; Id != Graph.objects() && Told.size() != PlacesMax; ++Id) {
    const Object &What = Graph.object(Id);
    bool Same = false;
    for (RecordKey Key : What.Types)
      Same |= Keys.count(P.named(Key)) != 0;
    for (const auto &View : What.Views)
      Same |= What.Types.empty() && Keys.count(P.named(View.first));
    if (!Same)
      continue;
    Made |= !What.isOlder();
    std::string Where = objectName(Id);
    if (SourcePlace At = place(What.Made); At.Line)
      Where = "the one made at " + At.File + ":" + std::to_string(At.Line);
    Told.insert("'" + Name + "': " + Where + " " + whyNotKept(Id));
  }
  Lines.assign(Told.begin(), Told.end());
  std::string Makers;
  for (RecordKey Key : Keys)
    Makers += unvisitedMakers(Key);
  if (!Lines.empty() && !Made && !Makers.empty())
    Lines.push_back("'" + Name + "': not visited, but naming its size: " + Makers +
                    "; was one of them meant to be part of the load?");
  if (!Lines.empty())
    return Lines;
  return {"'" + Name + "': no function that was visited makes or touches one" +
          (Makers.empty() ? "" : "; not visited, but naming its size: " + Makers)};
}

} // namespace nvmove::solve
