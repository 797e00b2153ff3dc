// Files of further words, "@file": see CommandLine.h. A file that cannot be read is an error: the
// words in it are lost, and with them what the source means.
#include "scan/CommandLine.h"

#include "support/Failed.h"
#include "support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"

namespace nvmove::scan {

using support::failed;

namespace {

/// Response files name others; more than a few levels are a file that names itself.
constexpr unsigned ResponseDepthMax = 16;
/// Words of one command: ten times what the longest link lines of today have.
constexpr size_t WordsMax = 200'000;

class ResponseFiles {
public:
  ResponseFiles(const std::string &Directory, std::vector<std::string> &Read)
      : Directory(Directory), Read(Read) {}

  llvm::Error expand(llvm::ArrayRef<std::string> Words, llvm::StringRef Folder, unsigned Depth) {
    for (const std::string &Word : Words) {
      if (llvm::StringRef(Word).starts_with("@") && Word.size() > 1) {
        if (llvm::Error E = read(Word.substr(1), Folder, Depth))
          return E;
        continue;
      }
      if (Out.size() == WordsMax)
        return failed("its response files give more than " + llvm::Twine(WordsMax) + " words");
      Out.push_back(Word);
    }
    return llvm::Error::success();
  }

  std::vector<std::string> Out;

private:
  llvm::Error read(llvm::StringRef Name, llvm::StringRef Folder, unsigned Depth) {
    if (Depth == ResponseDepthMax)
      return failed("its response files are nested more than " + llvm::Twine(ResponseDepthMax) +
                    " deep; does '" + Name + "' name itself?");
    std::string Path = support::absolutePath(Name, Folder);
    if (!llvm::sys::fs::exists(Path))
      Path = support::absolutePath(Name, Directory);
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> Text =
        std::make_error_code(std::errc::no_such_file_or_directory);
    if (llvm::sys::fs::is_regular_file(Path))
      Text = llvm::MemoryBuffer::getFile(Path);
    if (!Text)
      return failed("its response file '" + Name + "' cannot be read (" +
                    Text.getError().message() +
                    "), and the options in it are unknown; ninja keeps such files with -d keeprsp");
    if (!llvm::is_contained(Read, Path))
      Read.push_back(Path);
    llvm::BumpPtrAllocator Memory;
    llvm::StringSaver Saver(Memory);
    llvm::SmallVector<const char *, 64> Words;
    llvm::cl::TokenizeGNUCommandLine(decoded((*Text)->getBuffer()), Saver, Words);
    return expand(std::vector<std::string>(Words.begin(), Words.end()),
                  llvm::sys::path::parent_path(Path), Depth + 1);
  }

  const std::string &Directory;
  std::vector<std::string> &Read;
};

} // namespace

std::string decoded(llvm::StringRef Text) {
  std::string Converted;
  if (llvm::hasUTF16ByteOrderMark(llvm::ArrayRef<char>(Text.data(), Text.size())) &&
      llvm::convertUTF16ToUTF8String(llvm::ArrayRef<char>(Text.data(), Text.size()), Converted))
    return Converted;
  Text.consume_front("\xef\xbb\xbf");
  return Text.str();
}

llvm::Error expandResponseFiles(CompileCommand &Command, std::vector<std::string> &Read) {
  ResponseFiles Files(Command.Directory, Read);
  if (llvm::Error E = Files.expand(Command.Arguments, Command.Directory, 0))
    return E;
  Command.Arguments = std::move(Files.Out);
  return llvm::Error::success();
}

} // namespace nvmove::scan
