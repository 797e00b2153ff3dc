/* raw.c: see raw.h. */
#define _GNU_SOURCE
#include "raw/raw.h"

#include "raw/raw_file.h"
#include "trace/trace_file.h"
#include "trace/trace_points.h"

#include "trace/trace_state.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LINE = 64, AROUND = 4096, PAGE = 4096, WINDOW = 1 << 16 };

static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_TRACE];
static unsigned threads;

static _Thread_local unsigned own_number;
static _Thread_local uintptr_t own_stack, own_stack_end;
static _Thread_local const struct nvm_site *next_site;
static _Thread_local struct nvmi_callers next_callers;

/* The C library allocates for the answer, and the program's own malloc may store where we trace. */
static void find_stack(void) {
  static _Thread_local bool asks;
  pthread_attr_t attributes;
  void *stack = NULL;
  size_t size = 0;
  if (asks)
    return;
  asks = true;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
  }
  own_stack = (uintptr_t)stack;
  own_stack_end = own_stack + size;
  asks = false;
}

/* Whoever links this file has those, too. */
extern const char nvmi_raw_maps, nvmi_raw_libraries;
const char *const nvmi_raw_all[] = {&nvmi_raw_maps, &nvmi_raw_libraries};

/* What one entry of this file tells, from its first look to its last. */
struct telling {
  struct nvmi_callers callers;
  const struct nvm_site *site;
  uint64_t point; /* 0: not known yet */
  int error;      /* the program's errno */
};

static void end_telling(struct telling *t) {
  nvmi_unlock(lock);
  errno = t->error;
}

static bool begin_telling(struct telling *t, const struct nvm_site *site, const void *frame) {
  *t = (struct telling){.site = site, .error = errno};
  if (!own_stack)
    find_stack();
  if (site && frame)
    nvmi_trace_callers(&t->callers, frame, own_stack, own_stack_end);
  nvmi_lock(lock);
  if (!nvmi_raw_is_on()) {
    end_telling(t);
    return false;
  }
  if (!own_number &&
      threads == UINT16_MAX) /* a record has no room for more: fences would be mixed up */
    nvmi_die(NULL, "a trace of more than %d threads", UINT16_MAX);
  if (!own_number)
    own_number = ++threads;
  return true;
}

static uint64_t point_of(struct telling *t) {
  if (!t->point && t->site)
    t->point = nvmi_trace_point(t->site, &t->callers);
  return t->point;
}

static void put_bytes(enum nvm_trace_kind kind, uint64_t place, uint64_t point, size_t size) {
  nvmi_trace_put_pieces(own_number, kind, place, point, nvmi_raw_view + place, size);
}

/* Bytes that differ from the view, as one record for each stretch within a line. */
static void take_changed(struct telling *t, enum nvm_trace_kind kind, uint64_t place,
                         const char *bytes, size_t size) {
  for (size_t at = 0; at < size;) {
    size_t end = at + (LINE - (place + at) % LINE);
    end = end < size ? end : size;
    size_t first = at, last = end;
    while (first < end && bytes[first] == nvmi_raw_view[place + first])
      first++;
    while (last > first && bytes[last - 1] == nvmi_raw_view[place + last - 1])
      last--;
    if (first < last) {
      memcpy(nvmi_raw_view + place + first, bytes + first, last - first);
      put_bytes(kind, place + first, point_of(t), last - first);
    }
    at = end;
  }
}

/* How many bytes of the program could be read: none of a guard page, or behind the file's end. */
static size_t copy_memory(char *to, const char *from, size_t size) {
  struct iovec local = {to, size}, remote = {(void *)from, size};
  ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (got >= 0)
    return (size_t)got;
  if (errno == EFAULT)
    return 0;
  memcpy(to, from, size); /* where that call is forbidden */
  return size;
}

static void take_unseen(struct telling *t, uint64_t place, const char *address, size_t size) {
  static char window[WINDOW];
  for (size_t at = 0; at < size;) {
    size_t most = size - at < WINDOW ? size - at : WINDOW;
    size_t got = copy_memory(window, address + at, most);
    take_changed(t, NVM_TRACE_UNSEEN, place + at, window, got);
    at += got;
    if (got < most)
      at += PAGE - (uintptr_t)(address + at) % PAGE;
  }
}

/* A store is written down as a whole: its words arrive one by one, and none before the first. */
static void take_store(struct telling *t, const char *address, uint64_t place, size_t size,
                       bool streamed) {
  if (memcmp(nvmi_raw_view + place, address, size) == 0 && !streamed)
    return;
  memcpy(nvmi_raw_view + place, address, size);
  put_bytes(streamed ? NVM_TRACE_STREAM : NVM_TRACE_STORE, place, point_of(t), size);
}

static void store(struct telling *t, const void *address, size_t size, bool streamed) {
  uintptr_t at = (uintptr_t)address, end = at + size;
  uint64_t place;
  for (size_t length; nvmi_raw_next(&at, end, &place, &length);)
    take_store(t, (const char *)at - length, place, length, streamed);
}

/* How much the program has printed, where that is a file: `nvmove crash` makes it one. Whatever
 * printed it, it is known before anything else becomes durable. */
static void take_output(struct telling *t) {
  static uint64_t printed;
  struct stat status;
  if (fstat(STDOUT_FILENO, &status) || !S_ISREG(status.st_mode) ||
      (uint64_t)status.st_size == printed)
    return;
  printed = (uint64_t)status.st_size;
  nvmi_trace_put(own_number, NVM_TRACE_OUTPUT, printed, point_of(t), NULL, 0);
}

static void flush(struct telling *t, const void *address, size_t size) {
  uintptr_t at = (uintptr_t)address & ~(uintptr_t)(LINE - 1);
  uintptr_t end = ((uintptr_t)address + size + LINE - 1) & ~(uintptr_t)(LINE - 1);
  uint64_t place;
  take_output(t);
  for (size_t length; nvmi_raw_next(&at, end, &place, &length);) {
    take_changed(t, NVM_TRACE_UNSEEN, place, (const char *)at - length, length);
    put_bytes(NVM_TRACE_FLUSH, place, point_of(t), length);
  }
}

static void put_sync(struct telling *t, uint64_t place, uint64_t bytes) {
  nvmi_trace_put(own_number, NVM_TRACE_SYNC, place, point_of(t), &bytes, sizeof bytes);
}

/* All that was stored in these lines is durable. */
static void synchronise(struct telling *t, const void *address, size_t size) {
  uintptr_t at = (uintptr_t)address & ~(uintptr_t)(LINE - 1);
  uintptr_t end = ((uintptr_t)address + size + LINE - 1) & ~(uintptr_t)(LINE - 1);
  uint64_t place;
  take_output(t);
  for (size_t length; nvmi_raw_next(&at, end, &place, &length);) {
    take_unseen(t, place, (const char *)at - length, length);
    put_sync(t, place, length);
  }
}

static void fence(struct telling *t) {
  take_output(t);
  nvmi_trace_put(own_number, NVM_TRACE_FENCE, point_of(t), 0, NULL, 0);
}

static void look(void *t, const void *start, size_t size) {
  uintptr_t at = (uintptr_t)start, end = at + size;
  uint64_t place;
  for (size_t length; nvmi_raw_next(&at, end, &place, &length);)
    take_unseen(t, place, (const char *)at - length, length);
}

#define TELL_FROM_HERE(site, ...)                                                                  \
  do {                                                                                             \
    struct telling t;                                                                              \
    if (begin_telling(&t, (site), __builtin_frame_address(0))) {                                   \
      __VA_ARGS__;                                                                                 \
      end_telling(&t);                                                                             \
    }                                                                                              \
  } while (0)

void __nvm_raw_store(const void *Address, size_t Size, const struct nvm_site *Site) {
  if (nvmi_raw_may_be_mapped(Address))
    TELL_FROM_HERE(Site, store(&t, Address, Size, false));
}

void __nvm_raw_stream(const void *Address, size_t Size, const struct nvm_site *Site) {
  if (nvmi_raw_may_be_mapped(Address))
    TELL_FROM_HERE(Site, store(&t, Address, Size, true));
}

void __nvm_raw_flush(const void *Address, int AtOnce, const struct nvm_site *Site) {
  if (nvmi_raw_may_be_mapped(Address))
    TELL_FROM_HERE(Site, AtOnce ? synchronise(&t, Address, 1) : flush(&t, Address, 1));
}

void __nvm_raw_fence(const struct nvm_site *Site) {
  if (nvmi_raw_highest)
    TELL_FROM_HERE(Site, fence(&t));
}

/* In the pages around it. */
void __nvm_raw_call(const void *Address, const struct nvm_site *Site) {
  const char *from = (const char *)((uintptr_t)Address & ~(uintptr_t)(AROUND - 1));
  if (nvmi_raw_may_be_mapped(Address))
    TELL_FROM_HERE(Site, look(&t, from, 2 * AROUND));
}

void __nvm_raw_output(const struct nvm_site *Site) {
  if (nvmi_raw_highest)
    TELL_FROM_HERE(Site, take_output(&t));
}

__attribute__((disable_tail_calls)) void __nvm_raw_at(const struct nvm_site *Site) {
  next_site = Site;
  next_callers.count = 0;
  if (Site && nvmi_raw_highest) {
    if (!own_stack)
      find_stack();
    nvmi_trace_callers(&next_callers, __builtin_frame_address(0), own_stack, own_stack_end);
  }
}

static bool begin_placed(struct telling *t) {
  const struct nvm_site *site = next_site;
  next_site = NULL;
  if (!begin_telling(t, site, NULL))
    return false;
  t->callers = next_callers;
  return true;
}

void nvmi_raw_stored(const void *address, size_t size, bool streamed) {
  struct telling t;
  if (nvmi_raw_may_be_mapped(address) && begin_placed(&t)) {
    store(&t, address, size, streamed);
    end_telling(&t);
  }
}

void nvmi_raw_flushed(const void *address, size_t size) {
  struct telling t;
  if (size && nvmi_raw_may_be_mapped(address) && begin_placed(&t)) {
    flush(&t, address, size);
    end_telling(&t);
  }
}

void nvmi_raw_fenced(void) {
  struct telling t;
  if (nvmi_raw_highest && begin_placed(&t)) {
    fence(&t);
    end_telling(&t);
  }
}

void nvmi_raw_synchronised(const void *address, size_t size) {
  struct telling t;
  if (size && nvmi_raw_may_be_mapped(address) && begin_placed(&t)) {
    synchronise(&t, address, size);
    end_telling(&t);
  }
}

/* What is mapped is looked at; what was, and is no more, is synchronised with it. */
static void synchronise_file(struct telling *t) {
  take_output(t);
  nvmi_raw_each_mapping(look, t);
  if (nvmi_raw_size())
    put_sync(t, 0, nvmi_raw_size());
}

void nvmi_raw_file_synchronised(int fd, enum nvmi_raw_extent extent) {
  struct telling t;
  if (!nvmi_raw_highest || !begin_placed(&t))
    return;
  if (extent == NVMI_RAW_MACHINE || nvmi_raw_is_file(fd, extent == NVMI_RAW_FILE_SYSTEM))
    synchronise_file(&t);
  end_telling(&t);
}

void nvmi_raw_forget_place(void) { next_site = NULL; }

void nvmi_raw_look(const void *at, size_t size) {
  struct telling t;
  if (begin_placed(&t)) {
    look(&t, at, size);
    end_telling(&t);
  }
}

/* The process ends by exit or by a return from main. */
__attribute__((destructor)) static void leave(void) {
  struct telling t;
  next_site = NULL;
  if (!begin_placed(&t))
    return;
  take_output(&t);
  nvmi_raw_each_mapping(look, &t);
  nvmi_trace_put(own_number, NVM_TRACE_CLOSED, 0, 0, NULL, 0);
  end_telling(&t);
}
