// See Edges.h.
#include "plan/Edges.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

namespace {

const std::vector<std::string> VolatileChoices = {
    "'volatile', as here: each start has to set it, after the call of the load function",
    "let it move: remove the mark, and add the function that makes it to 'persistent'",
    "keep a name in the record in place of the pointer, and look it up"};
const std::vector<std::string> ArgumentChoices = {
    "'volatile', as here: each start has to set it",
    "keep a copy: remove the mark, and store a 'strdup' that lies in a scope of 'persistent'"};

/// The whole program is visited: what is older is an argument of main.
bool isArgument(const Object &What) { return What.Kind == ObjectKind::Pre; }

bool isOneOf(const RecordInfo &Info, llvm::ArrayRef<llvm::StringLiteral> Names) {
  return llvm::any_of(Names, [&](llvm::StringRef Name) {
    return Name == Info.Name || llvm::is_contained(Info.Aliases, Name);
  });
}

/// Records by value that mean nothing to another process.
bool isLock(const RecordInfo &Info) {
#define LOCK_TYPE(Type) #Type,
  return isOneOf(Info, {
#include "nvmove/locks.def"
                       });
#undef LOCK_TYPE
}

/// Records of the C library whose pointers lead to its own memory or constants.
bool isFilledByLibrary(const RecordInfo &Info) {
  return Info.System && isOneOf(Info, {"tm", "regex_t", "glob_t", "wordexp_t", "random_data"});
}

} // namespace

EdgeFinder::EdgeFinder(const Program &P, const PointsTo &Graph, const Moved &What,
                       std::set<ObjectId> InPool)
    : P(P), Graph(Graph), What(What), Say(P), InPool(std::move(InPool)) {}

void EdgeFinder::addVolatile(Plan &Into, const std::string &Field, std::string Why,
                             SourcePlace Where) const {
  if (llvm::none_of(Into.VolatileFields, [&](const Line &L) { return L.Name == Field; }))
    Into.VolatileFields.push_back({Field, std::move(Why), std::move(Where)});
}

std::string EdgeFinder::describeTarget(ObjectId Id) const {
  const Object &To = Graph.object(Id);
  if (To.Kind == ObjectKind::Stack)
    return "a local variable";
  if (isArgument(To))
    return "an argument of the program";
  return (To.Types.empty() ? "memory" : "a " + P.displayName(*To.Types.begin())) + " made at " +
         shown(What.madeAt(Id));
}

/// Targets of one field, told together.
void EdgeFinder::describeLeaving(Plan &Into) const {
  std::map<std::string, std::map<std::string, Leaving>> ByField;
  for (const Leaving &Each : What.leaving()) {
    std::string Field = What.fieldName(Each.From);
    std::string Place = shown(What.stored(Each.From, Each.To));
    if (Graph.object(Each.To).Kind == ObjectKind::Stack && Field.empty())
      continue; // More often the analysis than the program.
    ByField[Field].try_emplace(describeTarget(Each.To) + (Place.empty() ? "" : " (" + Place + ")"),
                               Each);
  }
  for (const auto &[Field, Targets] : ByField) {
    std::set<std::string> Texts;
    for (const auto &Each : Targets)
      Texts.insert(Each.first);
    std::string Text = (Field.empty() ? "an array in the pool" : Field) + " gets a pointer to " +
                       listed(Texts) + ", which does not move";
    if (Field.empty() || What.alsoHoldsMoving(Field)) {
      Into.Questions.push_back({Key::Fields,
                                Text + (Field.empty() ? "" : "; it leads to what moves, too"),
                                {"nothing, if that happens only in objects that stay in DRAM",
                                 "let it move: add the function that makes it to 'persistent' (a "
                                 "text: copy it there)"}});
      continue;
    }
    const Leaving &First = Targets.begin()->second;
    addVolatile(Into, Field, "leads to what dies with the process",
                What.stored(First.From, First.To));
    Into.Questions.push_back(
        {Key::Fields, Text,
         isArgument(Graph.object(First.To)) ? ArgumentChoices : VolatileChoices});
  }
}

/// Members of variables that lie in the pool.
void EdgeFinder::describeVariables(Plan &Into) const {
  for (ObjectId Id : InPool)
    for (auto [Offset, At] : Graph.object(Id).Cells)
      for (LocationId Each : Graph.pointees(At)) {
        ObjectId To = Graph.at(Each).In;
        const Object &Target = Graph.object(To);
        bool Made = Target.Kind == ObjectKind::Heap && Target.Made.At;
        if (!(Made || isArgument(Target)) || What.moves(To))
          continue;
        std::string Variable = Say.variable(Graph.object(Id).Id);
        std::string Field = What.fieldName({Id, Offset});
        std::string Text = "the variable " + Variable + " lies in the pool, and " +
                           (Field.empty() ? "a member of it" : Field) + " gets a pointer to " +
                           describeTarget(To) + ", which does not move";
        if (Field.empty()) {
          Into.Questions.push_back(
              {Key::Fields, Text, {"give its type a name, and add the member to 'volatile'"}});
          break;
        }
        addVolatile(Into, Field, "leads to what dies with the process",
                    What.stored({Id, Offset}, To));
        Into.Questions.push_back(
            {Key::Fields, Text, isArgument(Target) ? ArgumentChoices : VolatileChoices});
        break;
      }
}

/// What a record has of the system: locks, streams.
void EdgeFinder::describeMember(RecordKey Of, const std::string &Name, const RecordField &Field,
                                Plan &Into) const {
  const Shape &Type = Field.Type;
  if (Type.What != Core::Record || Type.Pointers > 1)
    return;
  const RecordInfo &Info = P.record(Type.Record);
  std::string Written = Name + "." + Field.Name;
  SourcePlace Where{P.record(Of).File, P.record(Of).Line, 0};
  if (Type.Pointers == 0 && isLock(Info)) {
    addVolatile(Into, Written, "a lock", Where);
    Into.Questions.push_back({Key::Fields,
                              Written + " is a lock: a process that is killed may leave it locked",
                              {"'volatile', as here: each start has to initialise it, after the "
                               "call of the load function"}});
  } else if (Type.Pointers == 1 && Info.System && !What.isPersistent(Type.Record)) {
    addVolatile(Into, Written, "belongs to the C library", Where);
    Into.Questions.push_back(
        {Key::Fields,
         Written + " leads to a " + P.displayName(Type.Record) + ", which dies with the process",
         {VolatileChoices.front(), VolatileChoices.back()}});
  }
}

/// Pointers that the C library sets in its own records: the zone of a `struct tm`, the memory of a regex_t. Not
/// those of any system header: the program may link its data by them, through functions of a library (insque).
void EdgeFinder::describeLibraryPointers(RecordKey Of, const std::string &Name, SourcePlace Where,
                                         Plan &Into) const {
  std::set<std::string> Found;
  for (const RecordField &Field : P.record(Of).Fields) {
    std::string Written = Name + "." + Field.Name;
    bool IsKnown = Field.Name.empty() || What.alsoHoldsMoving(Written);
    for (const std::vector<Line> *Marked : {&Into.VolatileFields, &Into.StaticFields})
      IsKnown |= llvm::any_of(*Marked, [&](const Line &L) { return L.Name == Written; });
    if (!Field.Type.Pointers || Field.Type.What == Core::Function || IsKnown)
      continue;
    addVolatile(Into, Written, "set by the C library", Where);
    Found.insert(Written);
  }
  if (!Found.empty())
    Into.Questions.push_back(
        {Key::Fields,
         listed(Found) + ": only the C library sets this, and it leads to what dies with the "
                         "process",
         {"'volatile', as here: each start has to call the library's function again before the "
          "pointer is used",
          "remove the mark, if the program stores a pointer to its own data there"}});
}

void EdgeFinder::describeMembers(Plan &Into) const {
  std::set<RecordKey> Seen;
  std::vector<std::pair<RecordKey, SourcePlace>> Work; // and where the program declares it
  auto Look = [&](RecordKey Key, const SourcePlace &Where) {
    const RecordInfo &Info = P.record(Key);
    if (Seen.insert(Key).second)
      Work.push_back({Key, Info.System ? Where : SourcePlace{Info.File, Info.Line, 0}});
  };
  for (ObjectId Id : What.objects())
    for (RecordKey Key : Graph.object(Id).Types)
      Look(Key, What.madeAt(Id));
  for (ObjectId Id : InPool)
    for (RecordKey Key : Graph.object(Id).Types)
      Look(Key, {});
  while (!Work.empty()) {
    auto [Key, Where] = Work.back();
    Work.pop_back();
    const RecordInfo &Info = P.record(Key);
    std::string Name = P.record(P.named(Key)).Name;
    for (const RecordField &Field : Info.Fields) {
      if (Field.Type.What == Core::Record && !Field.Type.Pointers &&
          !isLock(P.record(Field.Type.Record)))
        Look(Field.Type.Record, Where);
      if (!Info.System && !Name.empty() && !Field.Name.empty() && P.standsAlone(Key))
        describeMember(Key, Name, Field, Into);
    }
    if (isFilledByLibrary(Info) && !Name.empty() && P.standsAlone(Key))
      describeLibraryPointers(Key, Name, Where, Into);
  }
}

/// Records that are cut from the characters of another one: the pool does not see their pointers.
void EdgeFinder::describeArenas(Plan &Into) const {
  std::set<std::string> Told;
  for (ObjectId Id : What.objects()) {
    const Object &Made = Graph.object(Id);
    if (Made.Types.size() != 1)
      continue;
    RecordKey Type = *Made.Types.begin();
    for (const RecordField &Field : P.record(Type).Fields) {
      bool Raw = Field.Type.What == Core::Char && Field.Type.Array && !Field.Type.Pointers;
      bool Cut = Raw && llvm::any_of(Made.Cells, [&](const auto &At) {
                   int64_t Offset = static_cast<int64_t>(Field.Offset);
                   int64_t End = Offset + static_cast<int64_t>(Field.Type.Size);
                   bool Last = &Field == &P.record(Type).Fields.back();
                   return At.first >= Offset && (Last || At.first < End) &&
                          anyOf(Graph.pointees(At.second), [&](LocationId Each) {
                            return Graph.object(Graph.at(Each).In).isMemory();
                          });
                 });
      std::string Name = P.displayName(Type) + "." + Field.Name;
      if (Cut && Told.insert(Name).second)
        Into.Questions.push_back(
            {Key::Fields,
             Name + " is of characters, and other records may lie in it: their pointers are not "
                    "seen when "
                    "the pool moves",
             {"nothing, if it holds texts", "allocate each record by itself"}});
    }
  }
}

/// Members beside a root that lead to what the load does not make: a restart begins without it.
void EdgeFinder::describeLost(Plan &Into) const {
  std::map<ObjectId, std::set<std::string>> Lost;
  for (Cell Root : What.roots()) {
    const Object &Variable = Graph.object(Root.In);
    if (Variable.Type.What != Core::Record || Variable.Type.Pointers || InPool.count(Root.In))
      continue;
    for (auto [Offset, At] : Variable.Cells) {
      std::string Member = Say.member(Variable.Type.Record, Offset);
      bool Kept = What.roots().count({Root.In, Offset}) || Member.empty();
      for (LocationId Each : Graph.pointees(At))
        if (ObjectId To = Graph.at(Each).In; !Kept && Graph.object(To).Kind == ObjectKind::Heap &&
                                             Graph.object(To).Made.At && !What.moves(To))
          Lost[Root.In].insert(Member + " (" + describeTarget(To) + ")");
    }
  }
  for (const auto &[Id, Members] : Lost)
    Into.Questions.push_back(
        {Key::Roots,
         "of " + Say.variable(Graph.object(Id).Id) +
             ", these members lead to what the load does not make: " + listed(Members),
         {"nothing, if it belongs to the process: a start begins without it",
          "let it move: add the member to the roots, and the function that makes it to "
          "'persistent'"}});
}

void EdgeFinder::describe(Plan &Into) const {
  describeLost(Into);
  describeLeaving(Into);
  describeVariables(Into);
  describeMembers(Into);
  describeArenas(Into);
}

} // namespace nvmove::plan
