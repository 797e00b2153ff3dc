// Objects of a pool: see Dump.h.
#include "pool/Dump.h"

#include "pool/Members.h"
#include "support/Suggest.h"

#include "nvmove/convert.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

namespace nvmove::pool {

namespace {

std::string place(uint64_t Offset) { return "@0x" + llvm::utohexstr(Offset, /*LowerCase=*/true); }

class Dumper {
public:
  Dumper(llvm::raw_ostream &OS, NVM_POOL *Pool, const DumpOptions &Options)
      : OS(OS), Pool(Pool), Options(Options) {}

  void block(const nvm_block &Block) {
    std::string Name = Block.type && *Block.type->name ? Block.type->name : "untyped";
    if (!Options.Type.empty() && Name != Options.Type)
      return;
    std::vector<Field> Fields = fieldsOf(Block);
    Objects[Block.offset] = Block.size;
    if (Options.Form == DumpOptions::Json)
      line(Block, Name, std::move(Fields));
    else if (Options.Form == DumpOptions::Graph)
      node(Block, Name, Fields);
    else
      paragraph(Block, Name, Fields);
  }

  /// Edges end in blocks; a pointer may lead inside.
  void finish() {
    for (const auto &[From, To, Label] : Edges) {
      auto Into = Objects.upper_bound(To);
      bool Known = Into != Objects.begin() && To - std::prev(Into)->first < std::prev(Into)->second;
      OS << "  \"" << place(From) << "\" -> \"" << place(Known ? std::prev(Into)->first : To)
         << "\" [label=\"" << Label << "\"];\n";
    }
  }

private:
  using Field = std::pair<std::string, llvm::json::Value>; ///< in the order of their places

  void paragraph(const nvm_block &Block, const std::string &Name,
                 const std::vector<Field> &Fields) {
    OS << place(Block.offset) << ' ' << Name << ", " << Block.size << " bytes"
       << (Block.is_reachable ? "" : ", not reachable") << '\n';
    for (const auto &[Label, Value] : Fields)
      OS << "  " << Label << ": " << Value << '\n';
  }

  void line(const nvm_block &Block, const std::string &Name, std::vector<Field> Fields) {
    llvm::json::OStream Json(OS);
    Json.object([&] {
      Json.attribute("at", place(Block.offset));
      Json.attribute("type", Name);
      Json.attribute("bytes", Block.size);
      Json.attribute("reachable", Block.is_reachable);
      Json.attributeObject("fields", [&] {
        for (const auto &[Label, Value] : Fields)
          Json.attribute(Label, Value);
      });
    });
    OS << '\n';
  }

  void node(const nvm_block &Block, const std::string &Name, const std::vector<Field> &Fields) {
    OS << "  \"" << place(Block.offset) << "\" [label=\"" << Name << "\\n"
       << place(Block.offset) << "\"" << (Block.is_reachable ? "" : ", style=dashed") << "];\n";
    for (const auto &[Label, Value] : Fields)
      edges(Block, Value, Label);
  }

  /// Without the zeros at the end; for people its beginning.
  llvm::json::Value bytesOf(llvm::StringRef Bytes) const {
    enum { SHOWN = 64 };
    llvm::StringRef All = Bytes.rtrim('\0'), Start = isExact() ? All : All.take_front(SHOWN);
    return llvm::toHex(Start, /*LowerCase=*/true) + (Start.size() < All.size() ? "..." : "");
  }

  llvm::json::Value charactersOf(llvm::StringRef Text) const {
    enum { SHOWN = 256 };
    return textOf(isExact() ? Text : Text.take_front(SHOWN), precision());
  }

  /// Of several objects in a block, those behind the first only if they are not all zero.
  std::vector<Field> fieldsOf(const nvm_block &Block) {
    llvm::StringRef Bytes(static_cast<const char *>(Block.address), Block.size);
    const std::vector<Member> None, &Members = Block.type ? membersOf(*Block.type) : None;
    if (Members.empty() || !Block.type->size)
      return {{"bytes", bytesOf(Bytes)}};
    bool IsScalar = Members.size() == 1 && Members[0].Name.empty();
    if (IsScalar && isCharacter(Members[0].Kind))
      return {{"text", charactersOf(Bytes)}};
    uint64_t Size = Block.type->size, Count = std::max<uint64_t>(Block.size / Size, 1);
    bool HasTail = Members.back().IsTail;
    std::vector<Field> Fields;
    uint64_t Told = 0; // bytes from the start of the block
    for (uint64_t N = 0; N < (HasTail ? 1 : Count); ++N) {
      llvm::StringRef Record = Bytes.substr(N * Size);
      if (!HasTail && Record.size() >= Size)
        Told = (N + 1) * Size;
      if (N && Record.take_front(Size).find_first_not_of('\0') == llvm::StringRef::npos)
        continue;
      std::string Prefix = N || IsScalar ? "[" + std::to_string(N) + "]" : "";
      for (Member M : Members) {
        if (M.Offset > Record.size())
          continue;
        if (M.IsArray && !M.Count && M.Size)
          M.Count = (Block.size - M.Offset) / M.Size;
        if (M.Offset + M.Size * M.Count > Record.size())
          continue;
        Told = std::max(Told, N * Size + M.Offset + M.Size * M.Count);
        Fields.emplace_back(Prefix + (N && !IsScalar ? "." : "") + M.Name,
                            valueOf(M, Record.data(), Pool, precision()));
      }
    }
    // Behind the last object, or of one that the block was too short for.
    if (llvm::StringRef Rest = Bytes.substr(Told); !Rest.rtrim('\0').empty())
      Fields.emplace_back("[rest]", llvm::json::Object{{"bytes", bytesOf(Rest)}});
    return Fields;
  }

  bool isExact() const { return Options.Form == DumpOptions::Json; }
  Precision precision() const {
    return isExact()                            ? Precision::Exact
           : Options.Form == DumpOptions::Graph ? Precision::Pointers
                                                : Precision::Readable;
  }

  /// Members of one name, in base classes, get that of their class: "A::id".
  static std::vector<Member> named(Record Type) {
    std::map<std::string, unsigned> Times;
    for (const Member &M : Type.Members)
      Times[M.Name]++;
    for (Member &M : Type.Members)
      if (const Part *Base = Times[M.Name] > 1 ? baseOf(M, Type.Parts) : nullptr)
        M.Name.insert(M.Name.rfind('.') == std::string::npos ? 0 : M.Name.rfind('.') + 1,
                      Base->Type + "::");
    return std::move(Type.Members);
  }

  const std::vector<Member> &membersOf(const nvm_type &Type) {
    auto [At, New] = Known.try_emplace(&Type);
    if (New)
      At->second = named(parseRecord(Type.members));
    return At->second;
  }

  void edges(const nvm_block &From, const llvm::json::Value &Value, llvm::StringRef Label) {
    uint64_t To;
    if (auto *Fields = Value.getAsObject())
      for (const auto &[Field, Inner] : *Fields)
        edges(From, Inner, Field);
    else if (auto *Values = Value.getAsArray())
      for (const llvm::json::Value &Inner : *Values)
        edges(From, Inner, Label);
    else if (auto Text = Value.getAsString();
             Text && Text->consume_front("@0x") && !Text->getAsInteger(16, To))
      Edges.emplace_back(From.offset, To, Label.str());
  }

  llvm::raw_ostream &OS;
  NVM_POOL *Pool;
  const DumpOptions &Options;
  std::map<const nvm_type *, std::vector<Member>> Known;
  std::map<uint64_t, uint64_t> Objects; ///< offset, size
  std::vector<std::tuple<uint64_t, uint64_t, std::string>> Edges;
};

bool rememberName(void *Context, const nvm_type *Type) {
  static_cast<std::vector<std::string> *>(Context)->push_back(Type->name);
  return true;
}

bool visit(void *Context, const nvm_block *Block) {
  static_cast<Dumper *>(Context)->block(*Block);
  return true;
}

} // namespace

llvm::Error checkType(const OpenPool &Pool, const std::string &Name) {
  std::vector<std::string> Known{"untyped"};
  if (nvm_pool_each_type(Pool.get(), rememberName, &Known))
    return lastError();
  if (llvm::is_contained(Known, Name))
    return llvm::Error::success();
  return llvm::createStringError("the pool has no type '" + Name + "'" +
                                 support::didYouMean(support::nearest(Name, Known)));
}

llvm::Error dump(llvm::raw_ostream &OS, const OpenPool &Pool, const DumpOptions &Options,
                 std::string &Unknown) {
  Dumper Made(OS, Pool.get(), Options);
  bool IsGraph = Options.Form == DumpOptions::Graph;
  if (IsGraph)
    OS << "digraph pool {\n  node [shape=box];\n";
  int Failed = nvm_pool_each_block(Pool.get(), true, visit, &Made);
  if (Failed && nvm_errno() == NVM_EUNSAFE) {
    Unknown = nvm_strerror();
    Failed = nvm_pool_each_block(Pool.get(), false, visit, &Made);
  }
  if (Failed)
    return lastError();
  if (IsGraph) {
    Made.finish();
    OS << "}\n";
  }
  return llvm::Error::success();
}

} // namespace nvmove::pool
