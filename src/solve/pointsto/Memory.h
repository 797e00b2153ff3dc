// The nouns of the points-to engine: objects by allocation site, locations in them, and who stored.
//
// An Object is a piece of memory, or one of the special things that travel like pointers: a
// function, input, the handle it is read from, the size of a record. A Location is an object and a
// byte offset.
#pragma once

#include "solve/program/Program.h"

#include <map>
#include <set>

namespace nvmove::solve {

using NodeId = uint32_t;
using ObjectId = uint32_t;
using LocationId = uint32_t;
using InstanceId = uint32_t;

inline constexpr int64_t AnyOffset = INT64_MIN;

enum class ObjectKind : uint8_t {
  Heap,
  Mapped,
  Global,
  Stack,
  Pre,
  Function,
  External,
  Input,
  Handle,
  Size
};

/// Where in the program something happens.
struct Site {
  InstanceId In = None;
  const facts::Instruction *At = nullptr;
};

struct Object {
  ObjectKind Kind = ObjectKind::Heap;
  uint32_t Id = None;              ///< Function, External, Global: which. Size: its RecordKey.
  Shape Type;                      ///< Global, Stack, Pre: the declared or pointed-to type.
  std::set<RecordKey> Types;       ///< What it surely is: sizeof, declaration, cast at birth.
  std::map<RecordKey, Site> Views; ///< What it is looked at through, with the first place.
  std::map<RecordKey, Site> TypeSites;
  Site Made; ///< Heap, Mapped: the allocation.
  std::map<int64_t, NodeId> Cells;
  ObjectId Behind = None;  ///< What lies in the same block behind the record that it begins with.
  NodeId Tainted = None;   ///< Numbers only: the input among the cells.
  NodeId Whole = None;     ///< Receives every cell: what a load at AnyOffset reads.
  bool Constant = false;   ///< Global declared const: nothing is stored once it is captured.
  bool Emptied = false;    ///< Global: the load functions leave it empty, and so found it.
  bool Released = false;   ///< A function that was visited frees it on some way.
  bool FreedAtEnd = false; ///< The load function frees it on every way through.
  bool Guessed = false;    ///< Types come from the variable that took it, not from a size.
  bool BulkRead = false;   ///< An older record that one read fills, by its size.
  bool Indexed = false;    ///< Used as an array of records.
  bool Bytes = false;      ///< Born as characters or numbers: a record by cast of bytes only.
  unsigned Offsets = 0;    ///< Distinct offsets seen, while its type is unknown.

  bool isMemory() const { return Kind <= ObjectKind::Pre; }
  bool isOlder() const { return Kind == ObjectKind::Global || Kind == ObjectKind::Pre; }
};

struct Location {
  ObjectId In = None;
  int64_t Offset = 0;
};

/// A store that feeds a cell: for the chain that proves a type.
struct Feed {
  NodeId From = None;
  Site Where;
};

} // namespace nvmove::solve
