// An observation as JSON: see Observation.h.
#include "observe/Observation.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nvmove::observe {
namespace {

namespace json = llvm::json;

constexpr int64_t Version = 1;

struct Number {
  const char *Key;
  uint64_t Stack::*Of;
};
constexpr Number Numbers[] = {{"made", &Stack::Made},
                              {"bytes", &Stack::Bytes},
                              {"freed_early", &Stack::FreedEarly},
                              {"freed_unlinked", &Stack::FreedUnlinked},
                              {"freed_linked", &Stack::FreedLinked},
                              {"left", &Stack::Left},
                              {"alive_most", &Stack::AliveMost},
                              {"linked_most", &Stack::LinkedMost},
                              {"size_least", &Stack::SizeLeast},
                              {"size_most", &Stack::SizeMost},
                              {"wait_first", &Stack::WaitFirst},
                              {"wait_last", &Stack::WaitLast}};

json::Array callsOf(const Stack &S) {
  json::Array Calls;
  for (const Call &C : S.Calls) {
    json::Object Made{{"function", json::fixUTF8(C.Function)}};
    if (!C.File.empty()) {
      Made["file"] = json::fixUTF8(C.File);
      Made["line"] = C.Line;
    }
    Calls.push_back(std::move(Made));
  }
  return Calls;
}

json::Object objectOf(const Link &L) {
  json::Object Made{{"to", L.To}, {"most", L.Most}, {"since", L.Since}, {"until", L.Until}};
  if (L.Kind == Link::Holder::Blocks)
    Made["stack"] = L.From;
  else
    Made[L.Kind == Link::Holder::Variable ? "variable" : "function"] = json::fixUTF8(L.Name);
  if (L.Kind != Link::Holder::Frame)
    Made["offset"] = L.Offset;
  return Made;
}

bool read(const json::Object &From, const char *Key, uint64_t &To) {
  const json::Value *Found = From.get(Key);
  std::optional<uint64_t> Value = Found ? Found->getAsUINT64() : std::nullopt;
  To = Value.value_or(0);
  return Value.has_value();
}

bool read(const json::Object &From, const char *Key, std::string &To) {
  std::optional<llvm::StringRef> Value = From.getString(Key);
  To = Value.value_or("").str();
  return Value.has_value();
}

bool readCall(const json::Value &From, Call &C) {
  const json::Object *Object = From.getAsObject();
  uint64_t Line;
  if (!Object || !read(*Object, "function", C.Function))
    return false;
  if (read(*Object, "file", C.File) && read(*Object, "line", Line))
    C.Line = Line;
  return true;
}

bool readStack(const json::Value &From, Stack &S) {
  const json::Object *Object = From.getAsObject();
  const json::Array *Calls = Object ? Object->getArray("calls") : nullptr;
  if (!Calls)
    return false;
  for (const json::Value &Each : *Calls)
    if (!readCall(Each, S.Calls.emplace_back()))
      return false;
  for (const Number &Each : Numbers)
    if (!read(*Object, Each.Key, S.*Each.Of))
      return false;
  return true;
}

bool readLink(const json::Value &From, Link &L, size_t Stacks) {
  const json::Object *Object = From.getAsObject();
  uint64_t To, Holder;
  if (!Object || !read(*Object, "to", To) || To >= Stacks || !read(*Object, "most", L.Most) ||
      !read(*Object, "since", L.Since) || !read(*Object, "until", L.Until))
    return false;
  L.To = To;
  if (read(*Object, "function", L.Name)) {
    L.Kind = Link::Holder::Frame;
    return true;
  }
  if (!read(*Object, "offset", L.Offset))
    return false;
  if (read(*Object, "variable", L.Name))
    return true;
  L.Kind = Link::Holder::Blocks;
  if (!read(*Object, "stack", Holder) || Holder >= Stacks)
    return false;
  L.From = Holder;
  return true;
}

/// Whether it has too many levels for a reader that calls itself for each.
bool isDeep(llvm::StringRef Text) {
  constexpr unsigned LevelsMax = 16;
  unsigned Levels = 0;
  bool InText = false;
  for (size_t I = 0; I < Text.size() && Levels <= LevelsMax; ++I) {
    char C = Text[I];
    if (InText && C == '\\')
      ++I;
    else if (C == '"')
      InText = !InText;
    else if (!InText && (C == '[' || C == '{'))
      ++Levels;
    else if (!InText && (C == ']' || C == '}'))
      Levels -= Levels > 0;
  }
  return Levels > LevelsMax;
}

} // namespace

std::string toJson(const Observation &O) {
  json::Object Files;
  for (const auto &[Name, Md5] : O.Files)
    Files[json::fixUTF8(Name)] = Md5;
  json::Array Stacks, Links;
  for (const Stack &S : O.Stacks) {
    json::Object Made{{"calls", callsOf(S)}};
    for (const Number &Each : Numbers)
      Made[Each.Key] = S.*Each.Of;
    Stacks.push_back(std::move(Made));
  }
  for (const Link &L : O.Links)
    Links.push_back(objectOf(L));
  json::Object All{{"nvmove-observation", Version},
                   {"program", json::fixUTF8(O.Program)},
                   {"runs", O.Runs},
                   {"killed", O.Killed},
                   {"points", O.Points},
                   {"files", std::move(Files)},
                   {"stacks", std::move(Stacks)},
                   {"links", std::move(Links)}};
  return llvm::formatv("{0:1}\n", json::Value(std::move(All))).str();
}

llvm::Expected<Observation> fromJson(llvm::StringRef Text, llvm::StringRef Name) {
  auto Failed = [&](const llvm::Twine &What) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), Name + ": " + What);
  };
  if (isDeep(Text))
    return Failed("no observation: it has more levels than one has");
  llvm::Expected<json::Value> Parsed = json::parse(Text);
  if (!Parsed)
    return Failed(llvm::toString(Parsed.takeError()));
  const json::Object *All = Parsed->getAsObject();
  if (!All || All->getInteger("nvmove-observation") != Version)
    return Failed("no observation of 'nvmove observe', or one of another version");
  Observation O;
  const json::Object *Files = All->getObject("files");
  const json::Array *Stacks = All->getArray("stacks"), *Links = All->getArray("links");
  bool Whole = Files && Stacks && Links && read(*All, "program", O.Program) &&
               read(*All, "runs", O.Runs) && read(*All, "killed", O.Killed) &&
               read(*All, "points", O.Points);
  for (size_t I = 0; Whole && I < Stacks->size(); ++I)
    Whole = readStack((*Stacks)[I], O.Stacks.emplace_back());
  for (size_t I = 0; Whole && I < Links->size(); ++I)
    Whole = readLink((*Links)[I], O.Links.emplace_back(), O.Stacks.size());
  if (!Whole)
    return Failed("a part of the observation is missing or is of another kind");
  for (const auto &[Key, Md5] : *Files)
    O.Files[Key.str()] = Md5.getAsString().value_or("").str();
  return O;
}

llvm::Expected<Observation> readObservation(const std::string &Path) {
  auto Text = llvm::MemoryBuffer::getFile(Path);
  if (!Text)
    return llvm::createStringError(Text.getError(), Path + ": " + Text.getError().message());
  return fromJson((*Text)->getBuffer(), Path);
}

} // namespace nvmove::observe
