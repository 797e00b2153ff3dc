// Clang-form diagnostics: see Diagnostics.h.
#include "support/Diagnostics.h"

#include "support/Printable.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

#include <cstdlib>

namespace nvmove::support {

namespace {

constexpr unsigned SnippetColumnsMax = 120; // Wider lines wrap on most terminals.
constexpr unsigned TabStop = 8;             // What clang uses.

struct SeverityStyle {
  const char *Word;
  llvm::HighlightColor Color;
};

SeverityStyle styleOf(Severity What) {
  switch (What) {
  case Severity::Error:
    return {"error: ", llvm::HighlightColor::Error};
  case Severity::Warning:
    return {"warning: ", llvm::HighlightColor::Warning};
  case Severity::Remark:
    return {"remark: ", llvm::HighlightColor::Remark};
  case Severity::Note:
    break;
  }
  return {"note: ", llvm::HighlightColor::Note};
}

llvm::ColorMode llvmMode(bool Color) {
  return Color ? llvm::ColorMode::Enable : llvm::ColorMode::Disable;
}

bool continuesCharacter(char C) { return (static_cast<unsigned char>(C) & 0xc0) == 0x80; }

void printSnippet(llvm::raw_ostream &OS, bool Color, llvm::StringRef Line, const Place &Where) {
  unsigned Caret = 0;
  std::string Text = sourceWindow(Line.rtrim("\r\n"), Where.Column, Caret);
  OS << llvm::format("%5u | ", Where.Line) << Text << '\n';
  if (!Where.Column)
    return;
  OS << "      | ";
  OS.indent(Caret);
  llvm::WithColor(OS, llvm::HighlightColor::String, llvmMode(Color)) << '^';
  OS << '\n';
}

} // namespace

std::string sourceWindow(llvm::StringRef Line, unsigned Column, unsigned &Caret) {
  size_t At = Column ? std::min<size_t>(Column - 1, Line.size()) : 0;
  size_t First = At > SnippetColumnsMax / 2 && Line.size() > SnippetColumnsMax
                     ? At - SnippetColumnsMax / 2
                     : 0;
  while (First < Line.size() && continuesCharacter(Line[First]))
    ++First;
  std::string Text = First ? "..." : "";
  unsigned Columns = static_cast<unsigned>(Text.size());
  Caret = Columns;
  for (size_t I = First; I < Line.size(); ++I) {
    if (I == At)
      Caret = Columns;
    if (Columns >= SnippetColumnsMax && !continuesCharacter(Line[I])) {
      Text += "...";
      return Text;
    }
    char C = Line[I];
    if (C == '\t') {
      do {
        Text += ' ';
      } while (++Columns % TabStop);
    } else if (static_cast<unsigned char>(C) < 0x20 || C == 0x7f) {
      Text += '?';
      ++Columns;
    } else {
      Text += C;
      Columns += !continuesCharacter(C);
    }
  }
  if (At >= Line.size())
    Caret = Columns;
  return Text;
}

bool wantsColor(ColorMode Mode, const llvm::raw_fd_ostream &Stream) {
  if (Mode != ColorMode::Auto)
    return Mode == ColorMode::Always;
  const char *NoColor = std::getenv("NO_COLOR");
  const char *Terminal = std::getenv("TERM");
  if ((NoColor && *NoColor) || (Terminal && llvm::StringRef(Terminal) == "dumb"))
    return false;
  return const_cast<llvm::raw_fd_ostream &>(Stream).is_displayed();
}

std::optional<llvm::StringRef> SourceLines::line(llvm::StringRef Path, unsigned Number) {
  auto Found = Files.find(Path);
  if (Found == Files.end()) {
    File New;
    // A report must not hang on a FIFO or swallow a device that took a source file's name.
    if (llvm::sys::fs::is_regular_file(Path))
      if (auto Text = llvm::MemoryBuffer::getFile(Path)) {
        New.Text = std::move(*Text);
        llvm::StringRef All = New.Text->getBuffer();
        for (size_t At = 0; At < All.size(); At = All.find('\n', At) + 1) {
          New.Starts.push_back(At);
          if (All.find('\n', At) == llvm::StringRef::npos)
            break;
        }
      }
    Found = Files.emplace(Path.str(), std::move(New)).first;
  }
  const File &F = Found->second;
  if (!F.Text || Number == 0 || Number > F.Starts.size())
    return std::nullopt;
  llvm::StringRef Rest = F.Text->getBuffer().substr(F.Starts[Number - 1]);
  return Rest.take_until([](char C) { return C == '\n'; });
}

std::string displayPath(llvm::StringRef Path) {
  llvm::SmallString<256> Here;
  if (!llvm::sys::path::is_absolute(Path) || llvm::sys::fs::current_path(Here))
    return Path.str();
  Here += '/';
  if (Here.size() > 1 && Path.size() > Here.size() && Path.starts_with(Here))
    return Path.substr(Here.size()).str();
  return Path.str();
}

void printDiagnostic(llvm::raw_ostream &OS, bool Color, SourceLines &Sources, Severity What,
                     const Place &Where, const llvm::Twine &Text) {
  {
    llvm::WithColor Bold(OS, llvm::raw_ostream::SAVEDCOLOR, true, false, llvmMode(Color));
    OS << (Where.File.empty() ? std::string("nvmove") : displayPath(Where.File)) << ':';
    if (!Where.File.empty() && Where.Line) {
      OS << Where.Line << ':';
      if (Where.Column)
        OS << Where.Column << ':';
    }
    OS << ' ';
  }
  SeverityStyle Style = styleOf(What);
  llvm::WithColor(OS, Style.Color, llvmMode(Color)) << Style.Word;
  OS << Text << '\n';
  if (Where.Line)
    if (auto Line = Sources.line(Where.File, Where.Line))
      printSnippet(OS, Color, *Line, Where);
}

void Diagnostics::print(Severity What, const llvm::Twine &Text, const Place &Where) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (What == Severity::Error)
    ++ErrorCount;
  // A note belongs to what came before it, so it shares that one's fate.
  if (What != Severity::Note)
    LastShown = !Quiet || What == Severity::Error;
  if (!LastShown)
    return;
  std::string Whole;
  llvm::raw_string_ostream Buffer(Whole);
  Buffer.enable_colors(Color);
  Printable Shown(Buffer);
  printDiagnostic(Shown, Color, Sources, What, Where, Text);
  OS << Whole;
  OS.flush();
}

void Diagnostics::error(const llvm::Twine &Text, const Place &Where) {
  print(Severity::Error, Text, Where);
}

void Diagnostics::warning(const llvm::Twine &Text, const Place &Where) {
  print(Severity::Warning, Text, Where);
}

void Diagnostics::note(const llvm::Twine &Text, const Place &Where) {
  print(Severity::Note, Text, Where);
}

void Diagnostics::error(llvm::Error E) {
  llvm::handleAllErrors(std::move(E),
                        [this](const llvm::ErrorInfoBase &Info) { error(Info.message()); });
}

void Diagnostics::verbatim(llvm::StringRef Text) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!LastShown || Text.empty())
    return;
  OS << printable(Text);
  if (!Text.ends_with("\n"))
    OS << '\n';
  OS.flush();
}

} // namespace nvmove::support
