// See WritePlan.h.
#include "plan/WritePlan.h"

#include "plan/Names.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

namespace {

constexpr size_t WidthMax = 100;

/// Sentences as comments, folded at words.
void comment(llvm::raw_ostream &OS, llvm::StringRef Text, llvm::StringRef First,
             llvm::StringRef Next) {
  llvm::StringRef Prefix = First;
  while (!Text.empty()) {
    size_t Room = WidthMax - Prefix.size(), End = Text.size();
    if (End > Room) {
      End = Text.rfind(' ', Room);
      if (End == llvm::StringRef::npos || End == 0)
        End = std::min(Text.find(' '), Text.size());
    }
    OS << Prefix << Text.take_front(End) << "\n";
    Text = Text.drop_front(End).ltrim();
    Prefix = Next;
  }
}

class PortFileWriter {
public:
  PortFileWriter(const Plan &P, llvm::raw_ostream &OS) : P(P), OS(OS) {}
  void run();

private:
  void list(Key About, llvm::StringRef Name, const std::vector<Line> &Lines, llvm::StringRef Says,
            bool Always = false);
  void items(const std::vector<Line> &Lines, llvm::StringRef Indent);
  void item(llvm::StringRef Indent, llvm::StringRef Text, const std::string &Why);
  void questions(Key About);
  void fields();

  const Plan &P;
  llvm::raw_ostream &OS;
};

void PortFileWriter::questions(Key About) {
  for (const Question &Each : P.Questions) {
    if (Each.About != About)
      continue;
    comment(OS, Each.Text, "# QUESTION: ", "#   ");
    for (const std::string &Choice : Each.Choices)
      comment(OS, Choice, "#   - ", "#     ");
  }
}

void PortFileWriter::item(llvm::StringRef Indent, llvm::StringRef Text, const std::string &Why) {
  OS << Indent << "- " << Text;
  if (!Why.empty()) {
    OS.indent(Text.size() < 32 ? 32 - static_cast<unsigned>(Text.size()) : 1);
    OS << "# " << Why;
  }
  OS << "\n";
}

void PortFileWriter::items(const std::vector<Line> &Lines, llvm::StringRef Indent) {
  for (const Line &Each : Lines)
    item(Indent, Each.Name, Each.Why);
}

void PortFileWriter::list(Key About, llvm::StringRef Name, const std::vector<Line> &Lines,
                          llvm::StringRef Says, bool Always) {
  bool Asked = llvm::any_of(P.Questions, [&](const Question &Q) { return Q.About == About; });
  if (Lines.empty() && !Asked && !Always)
    return;
  OS << "\n# " << Says << "\n";
  questions(About);
  if (Lines.empty() && !Always)
    return;
  OS << Name << ":" << (Lines.empty() ? " []" : "") << "\n";
  items(Lines, "  ");
}

void PortFileWriter::run() {
  OS << "# A port file, planned from the source (docs/reference/port-file.md says what each key "
        "means).\n";
  if (!P.Questions.empty())
    OS << "# " << P.Questions.size() << " question" << (P.Questions.size() == 1 ? "" : "s")
       << " to answer: look for QUESTION.\n";
  for (const std::string &Note : P.Notes)
    comment(OS, Note, "# Note: ", "#   ");
  OS << "nvmove: 1\nprogram: " << P.Program << "\n";
  list(Key::Allocators, "allocators", P.Allocators, "Calls of these may allocate in the pool.");
  list(Key::Bytes, "bytes", P.Bytes, "What these allocate holds no pointers.");
  list(Key::Persistent, "persistent", P.Persistent,
       "What is allocated while these run lies in the pool,");
  list(Key::Beside, "beside", P.Beside, "or where their first argument lies,");
  list(Key::Volatile, "volatile", P.Volatile, "or in DRAM. The innermost decides.");
  OS << "\n# The variables from which the program reaches its data.\n";
  if (!P.NotRoots.empty())
    comment(OS,
            "No roots, because the load makes nothing of them; a restart begins with their first "
            "values: " +
                listed(P.NotRoots),
            "# ", "#   ");
  questions(Key::Roots);
  OS << "roots:" << (P.Roots.empty() ? " []" : "") << "\n";
  for (const RootLine &Each : P.Roots)
    item("  ", "{name: " + Each.Of.Name + (Each.InPool ? ", in_pool: true}" : "}"), Each.Of.Why);
  OS << "\n# Fills a new pool; a start whose pool has the data leaves it out.\n";
  questions(Key::Load);
  OS << "load:\n";
  for (const LoadLine &Each : P.Loads)
    item("  ",
         "{function: " + Each.Of.Name +
             (Each.Attached ? ", attached: " + std::to_string(*Each.Attached) : std::string()) +
             "}",
         "");
  list(Key::End, "end", P.End, "The program ends with these: what they free stays in the pool.");
  list(Key::Commit, "commit", P.Commit, "What was changed is durable on entry to these.");
  list(Key::Atomic, "atomic", P.Atomic, "Each call of these is one transaction.");
  fields();
  if (P.Types.empty())
    return;
  OS << "\n# The types of the data: of use for nvmove estimate and nvmove-cc --emulate-types "
        "alone.\n"
        "types:\n";
  for (const PersistentType &Each : P.Types)
    item("  ", Each.Name, "");
}

void PortFileWriter::fields() {
  bool Fields = !P.StaticFields.empty() || !P.VolatileFields.empty();
  if (!Fields &&
      llvm::none_of(P.Questions, [](const Question &Q) { return Q.About == Key::Fields; }))
    return;
  OS << "\n# Fields that are not what their types say.\n";
  questions(Key::Fields);
  if (Fields)
    OS << "fields:\n";
  for (const auto &[Name, Lines] :
       {std::pair("static", &P.StaticFields), {"volatile", &P.VolatileFields}})
    if (!Lines->empty()) {
      OS << "  " << Name << ":\n";
      items(*Lines, "    ");
    }
}

} // namespace

void writePortFile(const Plan &P, llvm::raw_ostream &OS) { PortFileWriter(P, OS).run(); }

} // namespace nvmove::plan
