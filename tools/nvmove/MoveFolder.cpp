// What `nvmove move` keeps from one run to the next: see Move.h.
#include "nvmove/Move.h"
#include "nvmove/ShellStep.h"

#include "support/Failed.h"
#include "support/Files.h"
#include "support/Process.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace nvmove::tool {

using support::failed;

namespace fs = std::filesystem;

namespace {

constexpr const char *MadeName = "nvmove-made.json";

std::string digest(llvm::StringRef Text) { return llvm::utohexstr(llvm::xxh3_64bits(Text)); }

std::string contents(const std::string &Path) {
  auto Read = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return Read ? (*Read)->getBuffer().str() : "";
}

/// Whether the source of an entry still exists: those of configure's tests do not.
bool isThere(const llvm::json::Object &Entry) {
  fs::path Folder = Entry.getString("directory").value_or("").str();
  return fs::exists(Folder / Entry.getString("file").value_or("").str());
}

} // namespace

llvm::Error MoveFolder::open() {
  std::error_code Error;
  bool IsEmpty =
      !fs::exists(Path, Error) || (fs::is_directory(Path, Error) && fs::is_empty(Path, Error));
  if (!IsEmpty && !fs::exists(file(MadeName), Error))
    return failed(Path +
                  ": exists, and is no folder of an earlier move; choose another one with -o");
  fs::create_directories(Path, Error);
  if (Error)
    return failed(Path + ": cannot be made: " + Error.message());
  llvm::Expected<llvm::json::Value> Read = llvm::json::parse(contents(file(MadeName)));
  if (!Read) {
    llvm::consumeError(Read.takeError()); // all is made anew
  } else if (const llvm::json::Object *All = Read->getAsObject()) {
    for (const auto &[Name, Of] : *All)
      Made[Name.str()] = Of.getAsString().value_or("").str();
  }
  return noteMade("", "");
}

bool MoveFolder::isMade(const char *Name, const std::string &Of) const {
  auto Found = Made.find(Name);
  return Found != Made.end() && Found->second == digest(Of + support::executableIdentity()) &&
         fs::exists(file(Name));
}

llvm::Error MoveFolder::noteMade(const char *Name, const std::string &Of) {
  if (*Name)
    Made[Name] = digest(Of + support::executableIdentity());
  return support::writeFile(file(MadeName), [&](llvm::raw_ostream &OS) {
    llvm::json::Object All;
    for (const auto &[Each, Digest] : Made)
      All[Each] = Digest;
    OS << llvm::json::Value(std::move(All)) << '\n';
  });
}

bool isMoveFolder(const std::string &Path) {
  std::error_code None;
  return fs::exists(Path + "/" + MadeName, None);
}

std::string digestOfTree(const std::string &Folder) {
  std::vector<std::string> Lines;
  std::error_code Error;
  for (fs::recursive_directory_iterator At(Folder, Error), End; !Error && At != End;
       At.increment(Error)) {
    std::error_code None;
    if (At->is_directory(None) && isMoveFolder(At->path().string())) {
      At.disable_recursion_pending();
      continue;
    }
    if (At->is_regular_file(None))
      Lines.push_back(At->path().string() + " " + std::to_string(At->file_size(None)) + " " +
                      std::to_string(At->last_write_time(None).time_since_epoch().count()));
  }
  std::sort(Lines.begin(), Lines.end());
  return digest(llvm::join(Lines, "\n"));
}

std::string digestOfTools() {
  std::string Text;
  for (const char *Name : {"PATH", "CFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "MAKEFLAGS", "CPATH",
                           "C_INCLUDE_PATH", "LIBRARY_PATH"})
    if (const char *Value = std::getenv(Name))
      Text += std::string(Name) + "=" + Value + "\n";
  llvm::Expected<std::string> Found = installedTool("nvmove-cc");
  std::string Compiler = Found ? *Found : "";
  llvm::consumeError(Found.takeError()); // its caller has asked before
  fs::path Installed = fs::path(Compiler).parent_path().parent_path();
  for (const fs::path &File : {fs::path(Compiler), Installed / "lib" / "libnvmove.a",
                               Installed / "lib" / "libnvmove_admin.a"})
    Text += digestOfFile(File.string());
  for (const char *Folder : {"lib/nvmove", "share/nvmove"}) // not all of /usr
    Text += digestOfTree((Installed / Folder).string());
  return digest(Text);
}

std::string digestOfFile(const std::string &Path) { return digest(contents(Path)); }

llvm::Expected<size_t> joinFragments(const std::string &Fragments, const std::string &Path) {
  llvm::json::Array All;
  std::error_code Error;
  std::vector<std::string> Names;
  for (fs::directory_iterator At(Fragments, Error), End; !Error && At != End; At.increment(Error))
    Names.push_back(At->path().string());
  std::sort(Names.begin(), Names.end());
  std::set<std::string> Outputs; // a file has those of one call of the compiler, some of them twice
  for (const std::string &Name : Names) {
    std::string Text = "[" + llvm::StringRef(contents(Name)).rtrim().rtrim(',').str() + "]";
    llvm::Expected<llvm::json::Value> Entries = llvm::json::parse(Text);
    if (!Entries) {
      llvm::consumeError(Entries.takeError()); // of a compiler that was ended
      continue;
    }
    for (llvm::json::Value &Entry : *Entries->getAsArray())
      if (const llvm::json::Object *Own = Entry.getAsObject(); Own && isThere(*Own))
        if (Outputs.insert(Own->getString("output").value_or("").str()).second)
          All.push_back(std::move(Entry));
  }
  size_t Count = All.size();
  if (llvm::Error E = support::writeFile(
          Path, [&](llvm::raw_ostream &OS) { OS << llvm::json::Value(std::move(All)) << '\n'; }))
    return std::move(E);
  return Count;
}

} // namespace nvmove::tool
