/* abi.h: the contract between code compiled by nvmove-cc and libnvmove.
 *
 * Programs do not include this file; the plugin emits what it describes, the runtime implements it.
 *
 * Before each store that may write persistent memory the compiled code asks, inline or by a call,
 *     if (Address >> NVM_RANGE_SHIFT == NVM_RANGE_TAG) {            // in the reserved range?
 *       line = Address >> 6, slot = __nvm_lines->slot[line & (NVM_LINE_SLOTS - 1)];
 *       if (slot.line != line || (slot.missing >> (Address & 63)) & ((1 << Size) - 1) || slot.line != line)
 *         if (Address < fresh_start || Address + Size > fresh_end)  // nor allocated last?
 *           __nvm_note(Address, Size);                              // not yet noted
 *     }
 * which is exact to the byte: a byte that this transaction did not write is never rolled back or
 * committed, because another thread may own it. The call is __nvm_site_SIZE, which asks everything;
 * where a store is executed often the first question, or the first two, are inline before it. The
 * line is read before `missing` and behind it: a signal handler may come in between, and its notes
 * may give the slot to another line and take it back. `missing` is this line's if both agree. A
 * store that crosses a line is not looked up. What may be lost from the table (a collision, a full
 * table) is noted again; duplicates are harmless by construction of every method.
 */
#ifndef NVMOVE_ABI_H
#define NVMOVE_ABI_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Referenced by every instrumented module, defined by the runtime. */
#define NVM_ABI_VERSION_SYMBOL __nvm_abi_7

/* The reserved range, in which every pool is mapped: 256 GiB at 0x7e8000000000. Of nine addresses
 * tried the only one that plain, ASan, TSan and MSan builds all leave free; the size keeps it clear
 * of the lowest place that the kernel randomises mmap to (0x7efb...). */
#define NVM_RANGE_SHIFT 38
#define NVM_RANGE_TAG UINT64_C(0x1fa)
#define NVM_RANGE_BASE (NVM_RANGE_TAG << NVM_RANGE_SHIFT)
#define NVM_RANGE_SIZE (UINT64_C(1) << NVM_RANGE_SHIFT)

/* 512 slots of 16 bytes: 8 KiB a thread, within the first-level cache. */
#define NVM_LINE_SLOTS 512
#define NVM_LINE_SIZE 64

/* One cache line of persistent memory that the open transaction touched. */
struct nvm_line {
  uint64_t line;    /* address >> 6; 0: the slot is empty (no line of the range is 0) */
  uint64_t missing; /* bit i set: byte i of the line is not noted yet */
};

struct nvm_line_table {
  struct nvm_line slot[NVM_LINE_SLOTS];
  uint64_t ahead; /* not 0: __nvm_note_ahead has appended what __nvm_drain has to wait for */
  uint64_t fresh_start,
      fresh_end;     /* addresses: what the open transaction allocated last, all noted */
  uint64_t called;   /* ranges of __nvm_note_call whose calls have not returned */
  uint64_t quick[6]; /* libnvmove's own (core/quick.h) */
};

/* A place in the source, for messages. Static data of the instrumented module. */
struct nvm_site {
  const char *file;
  uint32_t line;
  uint32_t column;
  const char *field; /* "struct node.next", or null when not known */
};

/* Kinds of words in a record that are not plain bytes. */
enum nvm_field_kind {
  NVM_FIELD_POINTER = 1,        /* to persistent data, or null */
  NVM_FIELD_WEAK_POINTER = 2,   /* counted by nobody (NVM_WEAK_PTR) */
  NVM_FIELD_UNION = 3,          /* pointer or integer: never guessed */
  NVM_FIELD_FUNCTION = 4,       /* pointer to a function */
  NVM_FIELD_FLEXIBLE_ARRAY = 5, /* elements of type `target` up to the end of the block */
  NVM_FIELD_STATIC_POINTER = 6, /* to static data of the program (NVM_STATIC_PTR) */
  NVM_FIELD_VOLATILE = 7,       /* never noted (NVM_VOLATILE): `count` bytes, `stride` apart */
  NVM_FIELD_EITHER = 8,         /* pointer exactly when it lies in the pool (NVM_PTR_OR_NUMBER) */
  NVM_FIELD_XOR = 9,            /* of two addresses in the pool, or null (NVM_XOR_PTR) */
  NVM_FIELD_ADDRESS = 10 /* made from addresses in a way of its own (NVM_MADE_OF_ADDRESSES) */
};

/* When a word that means several things is what its field says: a member of the same record decides
 * (NVM_WHEN, NVM_UNLESS). */
struct nvm_when {
  uint32_t offset;   /* of the deciding member, bytes from the start of the record */
  uint8_t first_bit; /* of it, from that byte on, little-endian */
  uint8_t bits;      /* 1 to 64 */
  uint8_t follows;   /* in an array of records: element i's member lies i strides further */
  uint8_t unless;    /* true for every value but these */
  uint32_t count;    /* values */
  uint32_t reserved;
  const int64_t *values; /* compared in their lowest `bits` */
};

/* A word of a record that is not plain bytes; arrays are one entry with their count. Several
 * entries for one place have a `when` each. */
struct nvm_field {
  const char *name; /* "next", "u.list.tail" */
  uint64_t target;  /* type id of the pointee or element; 0: not known (void *) */
  uint64_t tag;     /* bits of the word that are not part of the address (NVM_TAGGED_PTR) */
  uint32_t offset;  /* bytes from the start of the record */
  uint32_t count;   /* elements, `stride` apart; 1 unless an array */
  uint32_t stride;  /* bytes */
  uint32_t kind;    /* enum nvm_field_kind */
  const struct nvm_when *when; /* null: always */
};

/* The layout of one record type. The plugin emits one per record with external identity into
 * section `nvm_types` (pointers to them), merged by the linker; the runtime walks the program's
 * section, and is told of a library's by a constructor (__nvm_describe). */
struct nvm_type {
  uint64_t id;         /* hash of name and layout: equal ids mean equal layouts; never 0 */
  const char *name;    /* "struct node" */
  const char *members; /* lines "OFFSET[.BIT] SIZE[xCOUNT...|b] KIND NAME", see below */
  uint64_t size;       /* bytes */
  uint32_t alignment;  /* bytes */
  uint32_t field_count;
  const struct nvm_field *fields;
};

/* Members, for people and for telling two layouts apart: "8 4 signed key", "16 1x40 char name",
 * "56 4x3x4 signed matrix", "12.3 5b unsigned state". Nested records are flattened ("pair.key"); an array of records is
 * itself a member of kind `record`, and has its first element's members behind it ("pairs[].key").
 * Kinds: signed unsigned bool char (with a sign) uchar (without) float (float, double, long double) half
 * bfloat quad bitsN ubitsN (_BitInt(N)) vector-KINDSIZE complex-KINDSIZE (of an element) pointer
 * function record union other vtable (of a C++ class, "(vtable)").
 * Two kinds of lines are no members. They say where a record begins inside the type, and stand before its members:
 * "8 16 part pair:struct pair" ("8 16 part pairs[]:struct pair" for the elements of an array), and "0 8 base :A" for
 * a base class, whose members have no prefix of their own. */

#define NVM_TYPES_SECTION "nvm_types"

/* The names of sources that were compiled without --nvmove-trace, each ended by a zero. Where a program has
 * some, and other objects were, a trace says so. */
#define NVM_UNTRACED_SECTION "nvm_untraced"

/* The names of sources that were compiled without --nvmove-redirect, and one text for all that were compiled with it. */
#define NVM_ACCESSES_SECTION "nvm_accesses"
#define NVM_REDIRECTED "+"

/* The 8 bytes in front of a function that was compiled with --nvmove-redirect. */
#define NVM_REDIRECTED_MAGIC UINT64_C(0x3c70d5a96e812bf4)

/* The types that an object was compiled for with --emulate (__nvm_emulate): the name of the section is there in
 * a program without symbols, too. */
#define NVM_EMULATED_SECTION "nvm_emulated"

/* Where a thread's next allocation goes, and as what; set by compiled code around calls of the
 * allocators that a port file names, read by __nvm_port_malloc and its kin. */
struct nvm_place {
  uint64_t type;  /* of the next block, 0: not known; taken by the allocation */
  uint64_t scope; /* NVM_SCOPE_POOL or 0, DRAM: of the innermost call that has one */
};
#define NVM_SCOPE_POOL 1
/* No id has these values. The call says that pointers may be anywhere in the block; and that its
 * size does not say what is in the block: one that is made larger may keep its own type. */
#define NVM_PLACE_ANYTHING UINT64_C(2)
#define NVM_PLACE_GUESSED (UINT64_C(1) << 63)

/* A root of a port file: a global variable or a part of one. The plugin emits one in the object
 * that defines it, into section `nvm_roots` (pointers to them), of which a constructor tells. */
struct nvm_root {
  const char *name;  /* "server.db" */
  const char *after; /* the function behind which it has the pool's value; "": the load */
  void *address;
  uint64_t size;     /* bytes */
  uint64_t type;     /* what it holds: the id of a described type */
  uint64_t constant; /* 1: never changes after the load */
  void **place; /* where the program looks for the variable, which may lie in the pool; null: at
                 * `address`, and the pool has a copy */
};

#define NVM_ROOTS_SECTION "nvm_roots"

#define NVM_CALL_ORDINARY
#if defined(__clang__)
#define NVM_CALL_PRESERVE_MOST __attribute__((preserve_most))
#else
#define NVM_CALL_PRESERVE_MOST
#endif
#define NVM_CALL_STATIC_CHAIN NVM_CALL_PRESERVE_MOST

#define NVM_ABI_FUNCTION(name, result, parameters, convention) convention result name parameters;
#define NVM_ABI_THREAD_LOCAL(name, type) extern _Thread_local type name;
#ifndef __cplusplus
#include "nvmove/abi.def"
#include "nvmove/abi_raw.def"
#endif
#undef NVM_ABI_FUNCTION
#undef NVM_ABI_THREAD_LOCAL

#ifdef __cplusplus
}
#endif

#endif
