// Questions to the pool of a state: see Inspection.h.
#include "crash/Inspection.h"

#include "crash/Helper.h"
#include "crash/MemberName.h"

#include "nvmove/inspect.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

/// The child's part.
void answer(const std::string &Path, int Into,
            llvm::function_ref<void(NVM_POOL *, llvm::raw_ostream &)> Look) {
  becomeHelper();
  int Null = open("/dev/null", O_WRONLY);
  dup2(Null, STDOUT_FILENO);
  dup2(Null, STDERR_FILENO);
  for (const char *Name : {"NVMOVE_TRACE", "NVMOVE_METHOD", "NVMOVE_DOMAIN", "NVMOVE_KILL_AT",
                           "NVMOVE_STATS", "NVMOVE_BASE"})
    unsetenv(Name);
  setenv("NVMOVE_OPEN", "copy", 1);
  if (NVM_POOL *Pool = nvm_pool_open_foreign(Path.c_str())) {
    llvm::raw_fd_ostream OS(Into, /*shouldClose=*/false);
    Look(Pool, OS);
  }
  _exit(0);
}

std::string readToEnd(int From) {
  std::string Text;
  char Part[4096];
  pollfd File{From, POLLIN, 0};
  for (Deadline Until = deadline(); pollUntil(&File, 1, Until) > 0;) {
    ssize_t Read = read(From, Part, sizeof Part);
    if (Read <= 0)
      return Text;
    Text.append(Part, static_cast<size_t>(Read));
  }
  return "";
}

struct Lookup {
  uint64_t Place;
  nvm_block Block;
  bool Found = false;
};

bool isItThere(void *Context, const nvm_block *Block) {
  auto *W = static_cast<Lookup *>(Context);
  W->Found = W->Place - Block->offset < Block->size;
  if (W->Found)
    W->Block = *Block;
  return !W->Found;
}

/// First: in the file.
MemberName memberAt(NVM_POOL *Pool, uint64_t Place) {
  Lookup W{Place, {}};
  nvm_pool_each_block(Pool, /*reach=*/false, isItThere, &W);
  uint64_t Aligned = Place & ~uint64_t(7), Word;
  std::memcpy(&Word, static_cast<const char *>(nvm_pool_base(Pool)) + Aligned, sizeof Word);
  if (!W.Found)
    return Word && Word == reinterpret_cast<uint64_t>(nvm_pool_root(Pool))
               ? MemberName{"the pool's root", Aligned, sizeof Word}
               : MemberName();
  uint64_t Inside = Place - W.Block.offset, Size = W.Block.size;
  if (!W.Block.type)
    return {llvm::formatv("byte {0} of a block of {1} bytes without type", Inside, Size).str(),
            Place, 1};
  const nvm_type &Type = *W.Block.type;
  MemberName M = memberName({Type.name, Type.members, Type.size, Inside, Size});
  M.First += W.Block.offset;
  return M;
}

} // namespace

std::string inspect(const std::string &Path,
                    llvm::function_ref<void(NVM_POOL *, llvm::raw_ostream &)> Look) {
  int Ends[2];
  if (pipe2(Ends, O_CLOEXEC))
    return "";
  llvm::outs().flush();
  pid_t Child = fork();
  if (Child == 0)
    answer(Path, Ends[1], Look);
  close(Ends[1]);
  std::string Text;
  if (Child > 0) {
    HelperGroup Ours(Child);
    Text = readToEnd(Ends[0]);
  }
  close(Ends[0]);
  if (Child > 0)
    waitpid(Child, nullptr, 0);
  return Text;
}

std::string nameOf(NVM_POOL *Pool, uint64_t Place) { return memberAt(Pool, Place).Text; }

Field fieldIn(const std::string &Path, uint64_t Place) {
  std::string Said = inspect(Path, [&](NVM_POOL *Pool, llvm::raw_ostream &OS) {
    MemberName M = memberAt(Pool, Place);
    uint64_t Value = 0;
    bool IsNumber = M.Size && M.Size <= sizeof Value;
    if (IsNumber)
      std::memcpy(&Value, static_cast<const char *>(nvm_pool_base(Pool)) + M.First, M.Size);
    OS << M.First << ' ' << (IsNumber ? M.Size : 0) << ' ' << Value << ' ' << M.Text;
  });
  Field F;
  llvm::StringRef Rest = Said;
  if (Rest.consumeInteger(10, F.Place) || !Rest.consume_front(" ") ||
      Rest.consumeInteger(10, F.Size) || !Rest.consume_front(" ") ||
      Rest.consumeInteger(10, F.Value))
    return {};
  F.Name = Rest.ltrim().str();
  return F;
}

} // namespace nvmove::crash
