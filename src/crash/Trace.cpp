// Reading a trace: see Trace.h.
#include "crash/Trace.h"

#include "crash/SparseFile.h"

#include "crash/ByteSet.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>

namespace nvmove::crash {
namespace {

llvm::Error unreadable(const std::string &Path, const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Path + ": " + What.str());
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> read(const std::string &Path) {
  auto Buffer =
      llvm::MemoryBuffer::getFile(Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return unreadable(Path, Buffer.getError().message());
  return std::move(*Buffer);
}

void readPoint(Trace &T, const Event &E) {
  uint32_t Place[2] = {0, 0};
  if (E.Bytes.size() < sizeof Place)
    return;
  std::memcpy(Place, E.Bytes.data(), sizeof Place);
  llvm::SmallVector<llvm::StringRef> Texts;
  E.Bytes.drop_front(sizeof Place).split(Texts, '\0');
  Texts.resize(std::max<size_t>(Texts.size(), 3)); // behind the last zero is another
  Point &Made = T.Points[E.Extra];
  if (!E.Place)
    Made.Where = &*T.Sites.insert({Texts[0].str(), Texts[1].str(), Place[0], Place[1]}).first;
  for (size_t I = 2; I + 1 < Texts.size(); ++I)
    Made.Callers.push_back(Texts[I].str());
}

/// The kinds whose payload lies at Place in the file.
bool carriesBytes(nvm_trace_kind Kind) {
  return Kind == NVM_TRACE_STORE || Kind == NVM_TRACE_STREAM || Kind == NVM_TRACE_LINE ||
         Kind == NVM_TRACE_FLUSH || Kind == NVM_TRACE_UNSEEN || Kind == NVM_TRACE_VOLATILE ||
         Kind == NVM_TRACE_CHANGED;
}

/// Those whose Extra is a number of bytes at Place.
bool namesBytes(nvm_trace_kind Kind) {
  return Kind == NVM_TRACE_NOTE || Kind == NVM_TRACE_ALLOC || Kind == NVM_TRACE_FREE;
}

/// What the opening changed counts as done by somebody else: the next one tells all of it.
void takeRefused(Trace &T) {
  while (!T.Events.empty() && T.Events.back().Kind != NVM_TRACE_REOPEN)
    T.Events.pop_back();
  if (!T.Events.empty())
    T.Events.pop_back();
  T.Closed = true;
  --T.Openings;
  ++T.Refused;
}

/// The path; of a pool of libnvmove also which file it was.
void takeName(Trace &T, llvm::StringRef Text) {
  auto [Path, File] = Text.split('\0');
  T.PoolPath = Path.str();
  auto [Device, Inode] = File.split(':');
  if (Device.getAsInteger(10, T.Device) || Inode.getAsInteger(10, T.Inode))
    T.Device = T.Inode = 0;
}

/// Null, or what is wrong with a record.
const char *take(Trace &T, const Event &E) {
  switch (E.Kind) {
  case NVM_TRACE_OPEN:
    T.Size = T.SizeMax = E.Place;
    T.Base = E.Extra;
    takeName(T, E.Bytes.rtrim('\0'));
    return nullptr;
  case NVM_TRACE_SITE:
    readPoint(T, E);
    return nullptr;
  case NVM_TRACE_OTHER:
    if (E.Place == NVM_TRACE_OTHER_TOGETHER) {
      T.Together.insert(E.Extra);
      return nullptr;
    }
    ++T.OtherOpenings;
    if (std::string Path = E.Bytes.rtrim('\0').str(); !Path.empty())
      T.OtherPools.insert(Path);
    return nullptr;
  case NVM_TRACE_FORKED:
    ++T.Children;
    return nullptr;
  case NVM_TRACE_SHARED:
    T.Shared.insert(E.Bytes.rtrim('\0').str());
    return nullptr;
  case NVM_TRACE_UNTRACED:
    T.Untraced.insert(E.Bytes.rtrim('\0').str());
    return nullptr;
  case NVM_TRACE_SOCKET:
    T.HasSockets = true;
    return nullptr;
  case NVM_TRACE_FULL:
    T.Cut = T.Full = true;
    return nullptr;
  case NVM_TRACE_PART:
    return nullptr;
  case NVM_TRACE_ENDED:
    T.Status = static_cast<int>(E.Extra);
    return nullptr;
  case NVM_TRACE_REFUSED:
    takeRefused(T);
    return nullptr;
  case NVM_TRACE_CLOSED:
    T.Closed = true;
    break;
  case NVM_TRACE_REOPEN:
    T.Closed = false;
    ++T.Openings;
    T.SizeMax = std::max(T.SizeMax, E.Place);
    break;
  case NVM_TRACE_GROW:
    T.SizeMax = std::max(T.SizeMax, E.Place);
    break;
  default:
    uint64_t Bytes = carriesBytes(E.Kind)       ? E.Bytes.size()
                     : namesBytes(E.Kind)       ? E.Extra
                     : E.Kind == NVM_TRACE_SYNC ? bytesOfSync(E)
                                                : 0;
    if (Bytes && (E.Place > T.SizeMax || Bytes > T.SizeMax - E.Place))
      return "a place outside the pool";
  }
  T.Threads = std::max(T.Threads, E.Thread);
  T.Events.push_back(E);
  return nullptr;
}

void markCovered(Trace &T) {
  std::map<unsigned, ByteSet> Noted; // by thread
  for (Event &E : T.Events) {
    if (E.Kind == NVM_TRACE_NOTE)
      Noted[E.Thread].add(E.Place, E.Extra);
    else if (E.Kind == NVM_TRACE_COMMIT || E.Kind == NVM_TRACE_ABORT || E.Kind == NVM_TRACE_JOIN)
      Noted[E.Thread].clear();
    else if (E.Kind == NVM_TRACE_STORE)
      E.Covered = Noted[E.Thread].hasAll(E.Place, E.Bytes.size());
  }
}

} // namespace

/// The payload of an event that has one number as such; 0: none.
static uint64_t payloadOf(const Event &E) {
  uint64_t Number = 0;
  if (E.Bytes.size() >= sizeof Number)
    std::memcpy(&Number, E.Bytes.data(), sizeof Number);
  return Number;
}

uint64_t bytesOfSync(const Event &E) { return payloadOf(E); }
uint64_t siteOfFree(const Event &E) { return payloadOf(E); }

bool isTrace(const std::string &Path) {
  nvm_trace_header Header{};
  std::ifstream(Path, std::ios::binary).read(reinterpret_cast<char *>(&Header), sizeof Header);
  return Header.magic == NVM_TRACE_MAGIC;
}

llvm::Expected<Trace> readTrace(const std::string &Path) {
  Trace T;
  auto Buffer = read(Path);
  if (!Buffer)
    return Buffer.takeError();
  T.Buffer = std::move(*Buffer);
  llvm::StringRef Rest = T.Buffer->getBuffer();
  nvm_trace_header Header;
  if (Rest.size() < sizeof Header)
    return unreadable(Path, "no trace: the file ends within its header");
  std::memcpy(&Header, Rest.data(), sizeof Header);
  if (Header.magic != NVM_TRACE_MAGIC || Header.version != NVM_TRACE_VERSION)
    return unreadable(Path, "no trace of this version of nvmove");
  T.Apart = Header.flags & NVM_TRACE_APART;
  T.Method = Header.flags & NVM_TRACE_LAT    ? "lat"
             : Header.flags & NVM_TRACE_LATB ? "latb"
             : T.Apart                       ? "shadow"
                                             : "undo";
  T.Raw = Header.flags & NVM_TRACE_RAW;
  Rest = Rest.drop_front(sizeof Header);
  while (!Rest.empty()) {
    constexpr size_t Word = sizeof(uint64_t);
    if (Rest.size() >= Word && Rest.take_front(Word).find_first_not_of('\0') == Rest.npos) {
      Rest = Rest.drop_front(Word); // left over of a window
      continue;
    }
    nvm_trace_record R;
    uint64_t Offset = T.Buffer->getBufferSize() - Rest.size();
    uint64_t Padded = 0;
    if (Rest.size() >= sizeof R) {
      std::memcpy(&R, Rest.data(), sizeof R);
      Padded = (uint64_t(R.size) + 7) & ~uint64_t(7);
    }
    if (Rest.size() < sizeof R || Rest.size() - sizeof R < Padded) {
      T.Cut = true;
      break;
    }
    if (R.kind < NVM_TRACE_OPEN || R.kind > NVM_TRACE_SOCKET)
      return unreadable(Path, llvm::formatv("record at byte {0}: an unknown kind", Offset).str());
    Event E{static_cast<nvm_trace_kind>(R.kind), R.thread, R.place, R.extra,
            Rest.substr(sizeof R, R.size),       false};
    if (const char *Wrong = take(T, E))
      return unreadable(Path, llvm::formatv("record at byte {0}: {1}", Offset, Wrong).str());
    Rest = Rest.drop_front(sizeof R + Padded);
  }
  auto Image = readSparse(Path + ".image");
  if (!Image)
    return Image.takeError();
  T.Image = std::move(*Image);
  if ((!T.Size && !T.Raw) || T.Image->getBufferSize() != T.Size)
    return unreadable(Path, "the image beside it is of another run");
  constexpr size_t Magic = sizeof(uint64_t);
  T.Created =
      T.Image->getBuffer().take_front(Magic).find_first_not_of('\0') == llvm::StringRef::npos;
  if (auto Output = llvm::MemoryBuffer::getFile(Path + ".output"))
    T.Output = std::move(*Output);
  markCovered(T);
  return std::move(T);
}

} // namespace nvmove::crash
