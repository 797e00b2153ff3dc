/* raw.c: see raw.h. */
#define _GNU_SOURCE
#include "raw/raw.h"

#include "base/own_locks.h"
#include "base/settings.h"
#include "trace/trace_parts.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 64, PAGE = NVMI_TRACE_PAGE, MAPPINGS_MAX = 256, AROUND = 4096 };
#define SPAN_MAX (UINT64_C(1) << 38) /* bytes of a file that are followed */

struct mapping {
  uintptr_t start, end;
  uint64_t place; /* in the file */
};

static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_TRACE];
static struct mapping mappings[MAPPINGS_MAX];
static _Atomic unsigned
    mapping_count; /* changed with the lock; only ever read beyond what is there */
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest; /* of all that ever were */
static char *view;
static uint64_t size_now;
static dev_t device;
static ino_t inode;
static bool enabled;       /* the program has code that tells of itself */
static bool started, over; /* there is a trace; nothing is traced any more */
static unsigned threads;

static _Thread_local unsigned own_number;
static _Thread_local uintptr_t own_stack, own_stack_end;
static _Thread_local const struct nvm_site *next_site;
static _Thread_local struct nvmi_callers next_callers;

static void find_stack(void) {
  pthread_attr_t attributes;
  void *stack = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
  }
  own_stack = (uintptr_t)stack;
  own_stack_end = own_stack + size;
}

static bool may_be_mapped(const void *address) {
  return (uintptr_t)address >= atomic_load_explicit(&lowest, memory_order_relaxed) &&
         (uintptr_t)address < atomic_load_explicit(&highest, memory_order_relaxed);
}

/* Whoever links this file has those, too. */
extern const char nvmi_raw_maps, nvmi_raw_libraries;
const char *const nvmi_raw_all[] = {&nvmi_raw_maps, &nvmi_raw_libraries};

/* What one entry of this file tells, from its first look to its last. */
struct telling {
  struct nvmi_quiet quiet;
  struct nvmi_callers callers;
  const struct nvm_site *site;
  uint64_t point; /* 0: not known yet */
};

static bool begin_telling(struct telling *t, const struct nvm_site *site, const void *frame) {
  if (!own_stack)
    find_stack();
  *t = (struct telling){.site = site};
  if (site && frame)
    nvmi_trace_callers(&t->callers, frame, own_stack, own_stack_end);
  t->quiet = nvmi_lock_quietly(lock);
  if (!started || over) {
    nvmi_unlock_quietly(&t->quiet);
    return false;
  }
  if (!own_number)
    own_number = ++threads;
  return true;
}

static void end_telling(struct telling *t) { nvmi_unlock_quietly(&t->quiet); }

static uint64_t point_of(struct telling *t) {
  if (!t->point && t->site)
    t->point = nvmi_trace_point(t->site, &t->callers);
  return t->point;
}

/* The part of [at, at + size) that begins in a mapping, with its place; moves `at` behind it. False:
 * nothing is left. */
static bool next_mapped(uintptr_t *at, uintptr_t end, uint64_t *place, size_t *length) {
  while (*at < end) {
    uintptr_t next = end;
    for (unsigned i = 0; i < mapping_count; i++) {
      const struct mapping *m = &mappings[i];
      if (*at >= m->start && *at < m->end) {
        *place = m->place + (*at - m->start);
        *length = (end < m->end ? end : m->end) - *at;
        *at += *length;
        return true;
      }
      if (m->start > *at && m->start < next)
        next = m->start;
    }
    *at = next;
  }
  return false;
}

static const char *memory_at(uint64_t place) {
  for (unsigned i = 0; i < mapping_count; i++) {
    const struct mapping *m = &mappings[i];
    if (place >= m->place && place < m->place + (m->end - m->start))
      return (const char *)m->start + (place - m->place);
  }
  return NULL;
}

static void put_bytes(enum nvm_trace_kind kind, uint64_t place, uint64_t point, size_t size) {
  nvmi_trace_put_pieces(own_number, kind, place, point, view + place, size);
}

/* Bytes that differ from the view, as one record for each stretch within a line. */
static void take_changed(struct telling *t, enum nvm_trace_kind kind, uint64_t place,
                         const char *bytes, size_t size) {
  for (size_t at = 0; at < size;) {
    size_t end = at + (LINE - (place + at) % LINE);
    end = end < size ? end : size;
    size_t first = at, last = end;
    while (first < end && bytes[first] == view[place + first])
      first++;
    while (last > first && bytes[last - 1] == view[place + last - 1])
      last--;
    if (first < last) {
      memcpy(view + place + first, bytes + first, last - first);
      put_bytes(kind, place + first, point_of(t), last - first);
    }
    at = end;
  }
}

static void take_unseen(struct telling *t, uint64_t place, size_t size) {
  const char *bytes = memory_at(place);
  if (bytes)
    take_changed(t, NVM_TRACE_UNSEEN, place, bytes, size);
}

/* A store is written down as a whole: its words arrive one by one, and none before the first. */
static void take_store(struct telling *t, const char *address, uint64_t place, size_t size,
                       bool streamed) {
  if (memcmp(view + place, address, size) == 0 && !streamed)
    return;
  memcpy(view + place, address, size);
  put_bytes(streamed ? NVM_TRACE_STREAM : NVM_TRACE_STORE, place, point_of(t), size);
}

static void store(struct telling *t, const void *address, size_t size, bool streamed) {
  uintptr_t at = (uintptr_t)address, end = at + size;
  uint64_t place;
  for (size_t length; next_mapped(&at, end, &place, &length);)
    take_store(t, (const char *)at - length, place, length, streamed);
}

static void flush(struct telling *t, const void *address, size_t size) {
  uintptr_t at = (uintptr_t)address & ~(uintptr_t)(LINE - 1);
  uintptr_t end = ((uintptr_t)address + size + LINE - 1) & ~(uintptr_t)(LINE - 1);
  uint64_t place;
  for (size_t length; next_mapped(&at, end, &place, &length);) {
    take_unseen(t, place, length);
    put_bytes(NVM_TRACE_FLUSH, place, point_of(t), length);
  }
}

/* All that was stored in these lines is durable. */
static void synchronise(struct telling *t, const void *address, size_t size) {
  uintptr_t at = (uintptr_t)address & ~(uintptr_t)(LINE - 1);
  uintptr_t end = ((uintptr_t)address + size + LINE - 1) & ~(uintptr_t)(LINE - 1);
  uint64_t place;
  for (size_t length; next_mapped(&at, end, &place, &length);) {
    uint64_t bytes = length;
    take_unseen(t, place, length);
    nvmi_trace_put(own_number, NVM_TRACE_SYNC, place, point_of(t), &bytes, sizeof bytes);
  }
}

static void fence(struct telling *t) {
  nvmi_trace_put(own_number, NVM_TRACE_FENCE, point_of(t), 0, NULL, 0);
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
  if (may_be_mapped(Address))
    TELL_FROM_HERE(Site, store(&t, Address, Size, false));
}

void __nvm_raw_stream(const void *Address, size_t Size, const struct nvm_site *Site) {
  if (may_be_mapped(Address))
    TELL_FROM_HERE(Site, store(&t, Address, Size, true));
}

void __nvm_raw_flush(const void *Address, int AtOnce, const struct nvm_site *Site) {
  if (may_be_mapped(Address))
    TELL_FROM_HERE(Site, AtOnce ? synchronise(&t, Address, 1) : flush(&t, Address, 1));
}

void __nvm_raw_fence(const struct nvm_site *Site) {
  if (highest)
    TELL_FROM_HERE(Site, fence(&t));
}

/* In the pages around it. */
void __nvm_raw_call(const void *Address, const struct nvm_site *Site) {
  const char *from = (const char *)((uintptr_t)Address & ~(uintptr_t)(AROUND - 1));
  if (may_be_mapped(Address))
    TELL_FROM_HERE(Site, {
      uintptr_t at = (uintptr_t)from, end = at + 2 * (uintptr_t)AROUND;
      uint64_t place;
      for (size_t length; next_mapped(&at, end, &place, &length);)
        take_unseen(&t, place, length);
    });
}

/* How much the program has printed, where that is a file: `nvmove crash` makes it one. */
void __nvm_raw_output(const struct nvm_site *Site) {
  struct stat status;
  bool is_file = highest && fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
  if (highest)
    TELL_FROM_HERE(Site, nvmi_trace_put(own_number, NVM_TRACE_OUTPUT,
                                        is_file ? (uint64_t)status.st_size : UINT64_MAX,
                                        point_of(&t), NULL, 0));
}

__attribute__((disable_tail_calls)) void __nvm_raw_at(const struct nvm_site *Site) {
  next_site = Site;
  next_callers.count = 0;
  if (Site && highest) {
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
  if (may_be_mapped(address) && begin_placed(&t)) {
    store(&t, address, size, streamed);
    end_telling(&t);
  }
}

void nvmi_raw_flushed(const void *address, size_t size) {
  struct telling t;
  if (size && may_be_mapped(address) && begin_placed(&t)) {
    flush(&t, address, size);
    end_telling(&t);
  }
}

void nvmi_raw_fenced(void) {
  struct telling t;
  if (highest && begin_placed(&t)) {
    fence(&t);
    end_telling(&t);
  }
}

void nvmi_raw_synchronised(const void *address, size_t size) {
  struct telling t;
  if (size && may_be_mapped(address) && begin_placed(&t)) {
    synchronise(&t, address, size);
    end_telling(&t);
  }
}

static bool is_traced_file(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

void nvmi_raw_file_synchronised(int fd) {
  struct telling t;
  if (!highest || !begin_placed(&t))
    return;
  if (is_traced_file(fd))
    for (unsigned i = 0; i < mapping_count; i++)
      synchronise(&t, (const void *)mappings[i].start, mappings[i].end - mappings[i].start);
  end_telling(&t);
}

/* With the lock. */
static void add_mapping(uintptr_t start, size_t size, uint64_t place) {
  if (mapping_count == MAPPINGS_MAX)
    nvmi_die(NULL, "a trace of more than %d mappings of one file", MAPPINGS_MAX);
  mappings[mapping_count] = (struct mapping){start, start + size, place};
  mapping_count++;
  if (start < lowest)
    lowest = start;
  if (start + size > highest)
    highest = start + size;
}

static void at_fork(void) {
  over = true;
  nvmi_trace_file_forget();
}

void __nvm_raw_enable(void) { enabled = true; }

bool nvmi_raw_traces(void) { return enabled; }

static void read_view(int fd) {
  for (uint64_t from = 0, end; nvmi_trace_data(fd, &from, &end, size_now); from = end)
    for (uint64_t at = from; at < end;) {
      ssize_t n = pread(fd, view + at, end - at, (off_t)at);
      if (n <= 0)
        return;
      at += (uint64_t)n;
    }
}

static void grow(uint64_t size) {
  if (size > SPAN_MAX)
    nvmi_die(NULL, "a trace of a file of more than %llu bytes", (unsigned long long)SPAN_MAX);
  size_now = size;
}

static void begin(int fd, const struct stat *status, uintptr_t start) {
  char name[64], path[4096];
  device = status->st_dev;
  inode = status->st_ino;
  grow((uint64_t)status->st_size);
  view = nvmi_trace_reserve(SPAN_MAX);
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(name, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  read_view(fd);
  nvmi_trace_image(fd, view, size_now);
  nvmi_trace_start(NVM_TRACE_RAW);
  nvmi_trace_put(0, NVM_TRACE_OPEN, size_now, start, path, strlen(path) + 1);
  nvmi_trace_put(0, NVM_TRACE_OPENED, size_now, 0, NULL, 0);
  started = true;
  pthread_atfork(NULL, NULL, at_fork);
}

/* The file that the user names; where none is named, any. */
static bool is_wanted(const struct stat *status) {
  const char *path = nvmi_setting("NVMOVE_TRACE_FILE");
  struct stat named;
  return !path || (stat(path, &named) == 0 && named.st_dev == status->st_dev &&
                   named.st_ino == status->st_ino);
}

static void follow(void *at, size_t size, int fd, uint64_t offset, const struct stat *status) {
  const char *trace = nvmi_setting("NVMOVE_TRACE");
  if (!trace || over || !is_wanted(status))
    return;
  if (!started) {
    over = !nvmi_trace_file_open(trace);
    if (over)
      return;
    begin(fd, status, (uintptr_t)at);
  } else if (status->st_dev != device || status->st_ino != inode) {
    nvmi_trace_put(0, NVM_TRACE_OTHER, 0, 0, NULL, 0);
    return;
  }
  if ((uint64_t)status->st_size > size_now) {
    grow((uint64_t)status->st_size);
    nvmi_trace_put(0, NVM_TRACE_GROW, size_now, 0, NULL, 0);
  }
  if (offset >= size_now)
    return;
  size = size < size_now - offset ? size : size_now - offset;
  add_mapping((uintptr_t)at, size, offset);
}

void nvmi_raw_mapped(void *at, size_t size, int fd, off_t offset) {
  struct stat status;
  int flags = enabled && !nvmi_has_lock(lock) ? fcntl(fd, F_GETFL) : -1; /* not the trace itself */
  if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || fstat(fd, &status) ||
      !S_ISREG(status.st_mode) || !status.st_size)
    return;
  struct nvmi_quiet quiet = nvmi_lock_quietly(lock);
  follow(at, size, fd, (uint64_t)offset, &status);
  nvmi_unlock_quietly(&quiet);
}

/* Before it is gone: what it holds that nobody told of is looked at. */
uint64_t nvmi_raw_unmapped(const void *at, size_t size) {
  uintptr_t start = (uintptr_t)at, end = start + size;
  uint64_t first = UINT64_MAX;
  struct telling t;
  if (!mapping_count || nvmi_has_lock(lock) || start >= highest || end <= lowest ||
      !begin_placed(&t))
    return first;
  for (unsigned i = 0; i < mapping_count;) {
    struct mapping m = mappings[i];
    if (m.end <= start || m.start >= end) {
      i++;
      continue;
    }
    take_unseen(&t, m.place, m.end - m.start);
    if (start >= m.start)
      first = m.place + (start - m.start);
    mappings[i] = mappings[mapping_count - 1];
    mapping_count--;
    if (m.start < start)
      add_mapping(m.start, start - m.start, m.place);
    if (m.end > end)
      add_mapping(end, m.end - end, m.place + (end - m.start));
    i = 0;
  }
  end_telling(&t);
  return first;
}

void nvmi_raw_again(const void *at, size_t size, uint64_t place) {
  struct nvmi_quiet quiet = nvmi_lock_quietly(lock);
  if (started && !over && place < size_now)
    add_mapping((uintptr_t)at, size < size_now - place ? size : size_now - place, place);
  nvmi_unlock_quietly(&quiet);
}

/* The process ends by exit or by a return from main. */
__attribute__((destructor)) static void leave(void) {
  struct telling t;
  if (!begin_placed(&t))
    return;
  for (unsigned i = 0; i < mapping_count; i++)
    take_unseen(&t, mappings[i].place, mappings[i].end - mappings[i].start);
  nvmi_trace_put(own_number, NVM_TRACE_CLOSED, 0, 0, NULL, 0);
  end_telling(&t);
}
