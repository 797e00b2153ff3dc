/* roots.c: the roots of a ported program and their copies in the pool: see port.h.
 *
 * The pool's root is the first of a list of records, one a root: its name, and the block with its
 * value, typed as the variable is. All of it are ordinary blocks, so recovery, relocation and
 * collection know them. A value is written like any other store of the transaction that it belongs
 * to.
 */
#define _GNU_SOURCE
#include "port/roots.h"

#include "port/forgotten.h"
#include "port/roots_placed.h"

#include "base/settings.h"
#include "core/tracing.h"
#include "heap/heap_types.h"
#include "port/port.h"
#include "types/types.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nvmi_array nvmi_all_roots;

struct record {
  struct record *next;
  char *value;
  char name[];
};

/* As the plugin would describe it. */
static const struct nvm_field fields[] = {
    {"next", 0x6e766d6f7665721, 0, 0, 1, 8, NVM_FIELD_POINTER, NULL},
    {"value", 0, 0, 8, 1, 8, NVM_FIELD_POINTER, NULL},
    {"name", 0, 0, 16, 0, 1, NVM_FIELD_FLEXIBLE_ARRAY, NULL},
};
static const struct nvm_type record_type = {
    0x6e766d6f7665721,
    "struct nvmove_root",
    "0 8 pointer next\n8 8 pointer value\n16 1x0 char name\n",
    sizeof(struct record),
    _Alignof(struct record),
    3,
    fields};
__attribute__((section(NVM_TYPES_SECTION), used)) static const struct nvm_type *const entry =
    &record_type;

static const struct nvm_root *root_at(size_t i) {
  return ((const struct nvm_root *const *)nvmi_all_roots.items)[i];
}

/* Their addresses are read and written from now on, so the library has to stay. */
static void keep_library(const void *part) {
  Dl_info found;
  if (dladdr(part, &found) && !dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE))
    dlerror(); /* the program itself; nobody shall take it for an error of another call */
}

static _Noreturn void come_late(const struct nvm_root *root) {
  char message[256];
  snprintf(
      message, sizeof message,
      "root '%s' of the port file: its library was loaded after the load function, and has to be "
      "loaded before",
      root->name);
  nvmi_fatal(NVM_ELIMIT, nvm_pool_attached()->path, message);
}

static const struct nvmi_root_events *own_events(void);
static const struct nvmi_root_hooks hooks = {
    own_events,        nvmi_port_owns,   nvmi_roots_join, nvmi_port_has_ended,
    nvmi_root_correct, nvmi_root_around, nvmi_root_advice};

/* -fcommon: each source that has the variable defines it, and the linker makes them one. */
static bool is_known(const struct nvm_root *root) {
  for (size_t i = 0; i < nvmi_all_roots.count; i++) {
    const struct nvm_root *known = root_at(i);
    if (known->address == root->address && known->type == root->type &&
        strcmp(known->name, root->name) == 0)
      return true;
  }
  return false;
}

void __nvm_describe_roots(const struct nvm_root *const *Begin, const struct nvm_root *const *End) {
  for (const struct nvm_root *const *at = Begin; at < End; at++) {
    if (!*at || is_known(*at))
      continue;
    if (nvm_pool_attached())
      come_late(*at);
    if (!nvmi_array_push(&nvmi_all_roots, at, sizeof *at))
      nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of roots");
  }
  nvmi_root_hooks = &hooks;
  keep_library(Begin);
}

/* Whether a block of that type starts there. */
static bool is_of_type(struct nvm_pool *pool, const void *block, uint64_t id) {
  uint64_t inside;
  uint32_t index;
  const struct nvmi_span *span =
      block && nvm_usable_size(block)
          ? nvmi_block_at(pool, nvmi_offset(pool, block), &index, &inside)
          : NULL;
  const struct nvm_type *type = span ? nvmi_type_layout(pool, span->words[index] - 1u) : NULL;
  return type && type->id == id;
}

/* Null: the pool's root is something else, or nothing. */
static struct record *first_record(struct nvm_pool *pool) {
  void *root = nvm_pool_root(pool);
  return is_of_type(pool, root, record_type.id) ? root : NULL;
}

bool nvmi_roots_present(struct nvm_pool *pool) { return first_record(pool) != NULL; }

static struct record *find(struct nvm_pool *pool, const char *name) {
  struct record *at = first_record(pool);
  while (at && strcmp(at->name, name) != 0)
    at = at->next;
  return at;
}

/* The program's and the pool's are the same thing. */
static bool agrees(struct nvm_pool *pool, const struct nvm_root *root,
                   const struct record *record) {
  return record && is_of_type(pool, record->value, root->type) &&
         nvm_usable_size(record->value) >= root->size;
}

char *nvmi_root_value(struct nvm_pool *pool, const struct nvm_root *root) {
  const struct record *record = find(pool, root->name);
  return agrees(pool, root, record) ? record->value : NULL;
}

const char *nvmi_root_around(const void *address) {
  FOR_EACH_ROOT(root) {
    if (!root->place && (uintptr_t)address - (uintptr_t)root->address < root->size)
      return root->name;
  }
  return NULL;
}

const char *nvmi_root_advice(const char *name) {
  return strchr(name, '.') ? "make it a variable of its own, with 'in_pool: true' in the port file"
                           : "give it 'in_pool: true' in the port file";
}

const char *nvmi_roots_ambiguous(void) {
  for (size_t i = 0; i < nvmi_all_roots.count; i++)
    for (size_t j = 0; j < i; j++)
      if (strcmp(root_at(i)->name, root_at(j)->name) == 0)
        return root_at(i)->name;
  return NULL;
}

void nvmi_root_store(void *to, const void *from, size_t size) {
  __nvm_note_if_persistent(to, size);
  memcpy(to, from, size);
  nvmi_trace_stored(to, size);
}

/* The bytes that are volatile and nearest behind `at`, or there; none: the end of the record. Those of a field
 * in an array lie a stride apart. */
struct bytes {
  size_t start, end;
};
static struct bytes next_volatile(const struct nvm_type *type, size_t at) {
  struct bytes next = {type->size, type->size};
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    if (field->kind != NVM_FIELD_VOLATILE)
      continue;
    size_t index =
        at > field->offset ? (at - field->offset + field->stride - 1) / field->stride : 0;
    size_t start = field->offset + index * field->stride;
    size_t end = field->stride == 1 ? field->offset + (size_t)field->count : start + 1;
    if (index < field->count && start < next.start)
      next = (struct bytes){start, end};
  }
  return next;
}

/* A part of a root that the pool keeps, and where. */
struct piece {
  char *address, *value;
  size_t size;
};
typedef bool visit_piece(const struct piece *piece);

static bool each_piece_of_record(const struct nvm_type *type, char *address, char *value,
                                 visit_piece *visit) {
  for (size_t at = 0; at < type->size;) {
    struct bytes left_out = next_volatile(type, at);
    struct piece piece = {address + at, value + at, left_out.start - at};
    if (left_out.start > at && !visit(&piece))
      return false;
    at = left_out.end;
  }
  return true;
}

/* All but the volatile fields of what it is, a record or an array of them. False: the visitor said
 * so. */
static bool each_piece(struct nvm_pool *pool, const struct nvm_root *root, char *value,
                       visit_piece *visit) {
  const struct nvm_type *type = nvmi_type_by_id(pool, root->type);
  size_t at = 0;
  if (type && type->size && next_volatile(type, 0).start < type->size)
    for (; at + type->size <= root->size; at += type->size)
      if (!each_piece_of_record(type, (char *)root->address + at, value + at, visit))
        return false;
  struct piece rest = {(char *)root->address + at, value + at, root->size - at};
  return !rest.size || visit(&rest);
}

static bool show(const struct piece *piece) {
  memcpy(piece->address, piece->value, piece->size);
  return true;
}

int nvmi_roots_show(struct nvm_pool *pool, const char *after) {
  FOR_EACH_ROOT(root) {
    if (after && strcmp(root->after, after) != 0)
      continue;
    const struct record *record = find(pool, root->name);
    if (!agrees(pool, root, record))
      return nvmi_fail(NVM_EFOREIGN, pool->path,
                       record ? "the pool's root '%s' is of another type than the program's "
                                "('nvmove pool convert' carries over "
                                "roots that are records, and no others)"
                              : "the pool has no root '%s': it is of another version of the "
                                "program, or of another program",
                       root->name);
    if (root->place)
      nvmi_root_move(pool, root, record->value);
    else
      each_piece(pool, root, record->value, show);
  }
  return 0;
}

static struct record *enter(struct nvm_pool *pool, const struct nvm_root *root,
                            struct record *next) {
  size_t name_size = strlen(root->name) + 1;
  struct record *made = nvm_alloc(pool, record_type.id, sizeof *made + name_size);
  char *value = root->place ? *root->place : made ? nvm_alloc(pool, root->type, root->size) : NULL;
  if (!made || !value)
    return NULL;
  struct record filled = {next, value};
  nvmi_root_store(made, &filled, sizeof filled);
  nvmi_root_store(made->name, root->name, name_size);
  if (!root->place)
    nvmi_root_store(value, root->address, root->size);
  return made;
}

int nvmi_roots_enter(struct nvm_pool *pool) {
  struct record *first = NULL;
  FOR_EACH_ROOT(root) {
    first = enter(pool, root, first);
    if (!first)
      return -1;
  }
  return nvm_pool_set_root(pool, first);
}

/* struct piece: of the roots that may change; and the pool that has their values. */
static struct nvmi_array watched;
static struct nvm_pool *watched_by;
static bool looks_for_forgotten;

/* What the thread that attached does at the ends of its transactions. */
static void save_changed(void) {
  const struct piece *each = watched.items;
  if (NVMI_UNLIKELY(nvmi_port_is_ended() ||
                    (watched_by->forked && !watched_by->method->private_work)))
    return;
  for (size_t i = 0; i < watched.count; i++)
    if (NVMI_UNLIKELY(memcmp(each[i].address, each[i].value, each[i].size)))
      nvmi_root_store(each[i].value, each[i].address, each[i].size);
  if (NVMI_UNLIKELY(watched_by->child_stores))
    nvmi_port_says_child(watched_by);
  if (NVMI_UNLIKELY(looks_for_forgotten))
    nvmi_forgotten_look(watched_by);
}

/* A child's variables are its own. */
static void show_undone(void) {
  const struct piece *each = watched.items;
  if (watched_by->forked)
    return;
  for (size_t i = 0; i < watched.count; i++)
    show(&each[i]);
}

static const struct nvmi_root_events root_events = {true, save_changed, show_undone};

static _Thread_local bool has_loaded;
static const struct nvmi_root_events *own_events(void) { return has_loaded ? &root_events : NULL; }

static bool watch(const struct piece *piece) {
  return nvmi_array_push(&watched, piece, sizeof *piece);
}

static void keep_undone(void) {}

/* Without the order of accesses that other threads need not have with this one. */
static __attribute__((no_sanitize("thread"))) bool differs(const struct piece *piece) {
  const volatile char *now = piece->address, *saved = piece->value;
  size_t at = 0;
  while (at < piece->size && now[at] == saved[at])
    at++;
  return at < piece->size;
}

/* What other threads do: now and then they look. */
static void look_for_changed(void) {
  static _Atomic bool told;
  static _Thread_local unsigned commits;
  if (told || commits++ % 16)
    return;
  const struct piece *each = watched.items;
  for (size_t i = 0; i < watched.count; i++)
    if (differs(&each[i]) && !atomic_exchange(&told, true)) {
      const char *root = nvmi_root_around(each[i].address);
      nvmi_tell("nvmove: %s: root '%s' has changed while another thread commits than the one that "
                "loaded, which alone saves it; if others change it, too, a kill loses that: %s\n",
                watched_by->path, root, nvmi_root_advice(root));
    }
}

static const struct nvmi_root_events other_events = {false, look_for_changed, keep_undone};

void nvmi_roots_join(struct nvmi_thread *thread, const struct nvm_pool *pool) {
  if (pool == watched_by && watched.count && !thread->roots)
    thread->roots = &other_events;
}

int nvmi_roots_watch(struct nvm_pool *pool) {
  FOR_EACH_ROOT(root) {
    if (!root->constant && !root->place &&
        !each_piece(pool, root, find(pool, root->name)->value, watch))
      return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the list of roots");
  }
  watched_by = pool;
  looks_for_forgotten = nvmi_setting_is("NVMOVE_DEBUG", "roots");
  has_loaded = true;
  nvmi_thread_self()->roots = &root_events;
  return 0;
}
