/* raw_file.c: the file that is traced, and where it is mapped (raw.h). */
#define _GNU_SOURCE
#include "raw/raw_file.h"

#include "raw/raw.h"
#include "raw/raw_pool.h"
#include "trace/trace_file.h"
#include "trace/trace_program.h"

#include "base/holes.h"
#include "base/settings.h"
#include "base/uncancelled.h"
#include "trace/trace_state.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* `end`: of what the file has there; `whole`: of what was asked for, should the file grow. */
struct mapping {
  uintptr_t start, end, whole;
  uint64_t place; /* in the file */
};

static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_TRACE];
static struct mapping *mappings;
static _Atomic unsigned mapping_count;
static size_t mapping_room; /* bytes */
static uint64_t size_now;
static size_t view_size;
static dev_t device;
static ino_t inode;
static bool enabled;       /* the program has code that tells of itself */
static bool started, over; /* there is a trace; nothing is traced any more */

_Atomic uintptr_t nvmi_raw_lowest = UINTPTR_MAX, nvmi_raw_highest;
char *nvmi_raw_view;

void __nvm_raw_enable(void) {
  enabled = true;
  nvmi_raw_follow_pools();
}

bool nvmi_raw_traces(void) { return enabled; }

bool nvmi_raw_is_on(void) { return started && !over; }

bool nvmi_raw_next(uintptr_t *at, uintptr_t end, uint64_t *place, size_t *length) {
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

void nvmi_raw_each_mapping(void (*visit)(void *context, const void *start, size_t size),
                           void *context) {
  for (unsigned i = 0; i < mapping_count; i++)
    visit(context, (const void *)mappings[i].start, mappings[i].end - mappings[i].start);
}

static bool is_file(const struct stat *status) {
  return started && status->st_dev == device && status->st_ino == inode;
}

bool nvmi_raw_is_file(int fd, bool any) {
  struct stat status;
  return fstat(fd, &status) == 0 && (is_file(&status) || (any && status.st_dev == device));
}

uint64_t nvmi_raw_size(void) { return size_now; }

static void set_end(struct mapping *m) {
  uint64_t has = m->place < size_now ? size_now - m->place : 0;
  m->end = m->whole - m->start < has ? m->whole : m->start + has;
}

/* Zeros come behind what it has. */
static void *make_longer(void *old, size_t *size, size_t wanted) {
  void *got = old ? (void *)syscall(SYS_mremap, old, *size, wanted, MREMAP_MAYMOVE, NULL)
                  : nvmi_trace_reserve(wanted);
  if (got == MAP_FAILED)
    nvmi_die(NULL, "out of memory for a trace");
  *size = wanted;
  return got;
}

static void add_mapping(uintptr_t start, uintptr_t whole, uint64_t place) {
  if ((mapping_count + 1) * sizeof *mappings > mapping_room)
    mappings = make_longer(mappings, &mapping_room, mapping_room ? 2 * mapping_room : 1 << 14);
  struct mapping *made = &mappings[mapping_count];
  *made = (struct mapping){.start = start, .whole = whole, .place = place};
  set_end(made);
  mapping_count++;
  if (start < nvmi_raw_lowest)
    nvmi_raw_lowest = start;
  if (whole > nvmi_raw_highest)
    nvmi_raw_highest = whole;
}

/* No more than is needed: what is reserved in vain moves all that is mapped later. */
static void make_view(uint64_t size) {
  if (size <= view_size)
    return;
  nvmi_raw_view = make_longer(nvmi_raw_view, &view_size, 2 * size);
}

static void take_size(uint64_t size) {
  size_now = size;
  make_view(size);
  for (unsigned i = 0; i < mapping_count; i++)
    set_end(&mappings[i]);
}

static void read_view(int fd) {
  for (uint64_t from = 0, end; nvmi_next_data(fd, &from, &end, size_now); from = end)
    for (uint64_t at = from; at < end;) {
      ssize_t n = NVMI_UNCANCELLED(pread(fd, nvmi_raw_view + at, end - at, (off_t)at));
      if (n <= 0)
        return;
      at += (uint64_t)n;
    }
}

static void in_parent(void) {
  nvmi_lock(lock);
  if (nvmi_raw_is_on())
    nvmi_trace_put(0, NVM_TRACE_FORKED, 0, 0, NULL, 0);
  nvmi_unlock(lock);
}

static void in_child(void) {
  over = true;
  nvmi_trace_file_forget();
}

static void begin(int fd, const struct stat *status, uintptr_t start) {
  char name[64], path[PATH_MAX];
  device = status->st_dev;
  inode = status->st_ino;
  take_size((uint64_t)status->st_size);
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(name, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  read_view(fd);
  nvmi_trace_image(fd, nvmi_raw_view, size_now);
  nvmi_trace_start(NVM_TRACE_RAW);
  nvmi_trace_put(0, NVM_TRACE_OPEN, size_now, start, path, strlen(path) + 1);
  nvmi_trace_program();
  nvmi_trace_put(0, NVM_TRACE_OPENED, size_now, 0, NULL, 0);
  started = true;
  pthread_atfork(NULL, in_parent, in_child);
}

/* The file that the user names; where none is named, any. */
static bool is_wanted(const struct stat *status) {
  const char *path = nvmi_setting("NVMOVE_TRACE_FILE");
  struct stat named;
  return !path || (stat(path, &named) == 0 && named.st_dev == status->st_dev &&
                   named.st_ino == status->st_ino);
}

static void resize(uint64_t size) {
  if (size == size_now)
    return;
  if (size < size_now) /* should it grow again */
    memset(nvmi_raw_view + size, 0, size_now - size);
  take_size(size);
  nvmi_trace_put(0, NVM_TRACE_GROW, size_now, 0, NULL, 0);
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
  } else if (!is_file(status)) {
    nvmi_trace_put(0, NVM_TRACE_OTHER, 0, 0, NULL, 0);
    return;
  }
  resize((uint64_t)status->st_size);
  add_mapping((uintptr_t)at, (uintptr_t)at + size, offset);
}

void nvmi_raw_mapped(void *at, size_t size, int fd, off_t offset) {
  struct stat status;
  if (!enabled || nvmi_has_lock(lock)) /* the trace itself */
    return;
  nvmi_raw_forget_place(); /* else it would be that of the next thing without one */
  int flags = NVMI_UNCANCELLED(fcntl(fd, F_GETFL));
  if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || fstat(fd, &status) || !S_ISREG(status.st_mode))
    return;
  nvmi_lock(lock);
  follow(at, size, fd, (uint64_t)offset, &status);
  nvmi_unlock(lock);
}

/* Without the last bytes first: what is mapped behind the end of the file cannot be read. */
void nvmi_raw_resized(int fd) {
  struct stat status;
  if (!nvmi_raw_highest || nvmi_has_lock(lock) || fstat(fd, &status) || !is_file(&status))
    return;
  nvmi_lock(lock);
  if (nvmi_raw_is_on())
    resize((uint64_t)status.st_size);
  nvmi_unlock(lock);
}

static uint64_t forget(uintptr_t start, uintptr_t end) {
  uint64_t first = UINT64_MAX;
  for (unsigned i = 0; i < mapping_count;) {
    struct mapping m = mappings[i];
    if (m.whole <= start || m.start >= end) {
      i++;
      continue;
    }
    if (start >= m.start)
      first = m.place + (start - m.start);
    mappings[i] = mappings[mapping_count - 1];
    mapping_count--;
    if (m.start < start)
      add_mapping(m.start, start, m.place);
    if (m.whole > end)
      add_mapping(end, m.whole, m.place + (end - m.start));
    i = 0;
  }
  return first;
}

uint64_t nvmi_raw_unmapped(const void *at, size_t size) {
  uintptr_t start = (uintptr_t)at, end = start + size;
  if (!mapping_count || nvmi_has_lock(lock) || start >= nvmi_raw_highest || end <= nvmi_raw_lowest)
    return UINT64_MAX;
  nvmi_raw_look(at, size);
  nvmi_lock(lock);
  uint64_t first = forget(start, end);
  nvmi_unlock(lock);
  return first;
}

void nvmi_raw_again(const void *at, size_t size, uint64_t place) {
  nvmi_lock(lock);
  if (nvmi_raw_is_on())
    add_mapping((uintptr_t)at, (uintptr_t)at + size, place);
  nvmi_unlock(lock);
}
