/* trace.c: NVMOVE_TRACE=FILE: writes down what the first pool's file goes through.
 *
 * Three sources. The table of persist functions is wrapped: every flush, streamed line and fence is
 * recorded with the bytes it carries, so the trace has what the runtime itself stores. Code
 * compiled with --nvmove-trace tells of each store behind it, with its place in the source. And at
 * the end of each transaction the program's view is compared with a copy that only learns from the
 * trace: what differs was stored by code that nobody traced; where it was noted it is taken for
 * that of a pre-compiled function, elsewhere it is reported as unseen. So the trace does not share
 * the compiler's blind spots.
 *
 * Records go through one buffer under a lock, written out at the end of each transaction. A child
 * of fork traces nothing. With several threads a byte stays noted once it was.
 */
#define _GNU_SOURCE
#include "trace.h"

#include "header.h"
#include "heap_types.h"
#include "locks.h"
#include "map.h"
#include "pool.h"
#include "types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, PAGE = 4096, BUFFER = 1 << 20, SITES_MAX = 1 << 16, IMAGE_BLOCK = 1 << 16 };

bool nvmi_tracing;

static struct {
  const struct nvm_pool *pool;
  const struct nvmi_persist *real;
  pthread_mutex_t lock;
  int fd;
  char *buffer, *seen; /* the program's view as the trace knows it, by file offset */
  uint64_t *noted;     /* bit for each byte: noted in an open transaction */
  size_t used;
  unsigned site_count;
  const struct nvm_site **sites; /* by hash; the number of a site is its slot + 1 */
  _Atomic unsigned threads;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static _Thread_local unsigned thread_number;

static void flush_buffer(void) {
  for (size_t done = 0; done < trace.used;) {
    ssize_t n = write(trace.fd, trace.buffer + done, trace.used - done);
    if (n < 0 && errno != EINTR)
      nvmi_die(NULL, "the trace cannot be written: %s", strerror(errno));
    done += n > 0 ? (size_t)n : 0;
  }
  trace.used = 0;
}

/* With the lock. */
static void put(enum nvm_trace_kind kind, uint64_t place, uint64_t extra, const void *payload,
                size_t size) {
  if (!thread_number)
    thread_number = ++trace.threads;
  struct nvm_trace_record record = {(uint32_t)size, (uint16_t)kind, (uint16_t)thread_number, place,
                                    extra};
  size_t padded = (size + 7) & ~(size_t)7;
  if (trace.used + sizeof record + padded > BUFFER)
    flush_buffer();
  memcpy(trace.buffer + trace.used, &record, sizeof record);
  memcpy(trace.buffer + trace.used + sizeof record, payload, size);
  trace.used += sizeof record + padded;
}

static void put_pieces(enum nvm_trace_kind kind, uint64_t place, uint64_t extra,
                       const char *payload, size_t size) {
  enum { PIECE = BUFFER / 4 };
  for (size_t at = 0; at < size; at += PIECE)
    put(kind, place + at, extra, payload + at, size - at < PIECE ? size - at : PIECE);
}

static uint64_t offset_of(const void *address) {
  const struct nvm_pool *pool = trace.pool;
  uint64_t in_home = (uint64_t)((const char *)address - pool->home);
  return in_home < pool->header.span ? in_home : nvmi_offset(pool, address);
}

static bool is_traced(const void *address) {
  return nvmi_tracing && offset_of(address) < trace.pool->header.span;
}

static void learn(uint64_t place, const void *bytes, size_t size) {
  if (!trace.pool->method->private_work)
    memcpy(trace.seen + place, bytes, size);
}

static void trace_stream(void *to, const void *from, size_t size) {
  trace.real->stream(to, from, size);
  if (!is_traced(to))
    return;
  nvmi_lock(&trace.lock);
  put_pieces(NVM_TRACE_STREAM, offset_of(to), 0, from, size);
  learn(offset_of(to), from, size);
  nvmi_unlock(&trace.lock);
}

static void trace_flush(const void *address, size_t size) {
  if (is_traced(address)) {
    uint64_t first = offset_of(address) & ~(uint64_t)(LINE - 1);
    uint64_t end = (offset_of(address) + size + LINE - 1) & ~(uint64_t)(LINE - 1);
    nvmi_lock(&trace.lock);
    put_pieces(NVM_TRACE_FLUSH, first, 0, trace.pool->home + first, end - first);
    learn(first, trace.pool->home + first, end - first);
    nvmi_unlock(&trace.lock);
  }
  trace.real->flush(address, size);
}

/* An event of the thread that has no place. */
static void put_alone(enum nvm_trace_kind kind, uint64_t extra) {
  if (!nvmi_tracing)
    return;
  nvmi_lock(&trace.lock);
  put(kind, 0, extra, "", 0);
  nvmi_unlock(&trace.lock);
}

static void trace_fence(void) {
  trace.real->fence();
  put_alone(NVM_TRACE_FENCE, 0);
}

void nvmi_trace_barrier(void) { put_alone(NVM_TRACE_FENCE, 1); }
void nvmi_trace_begin(void) { put_alone(NVM_TRACE_BEGIN, 0); }

static void trace_store_line(void *to, const void *from, uint64_t mask) {
  trace.real->store_line(to, from, mask);
  if (!is_traced(to))
    return;
  nvmi_lock(&trace.lock);
  put(NVM_TRACE_LINE, offset_of(to), mask, from, LINE);
  nvmi_unlock(&trace.lock);
}

static const struct nvmi_persist wrapped = {.name = "traced",
                                            .stream = trace_stream,
                                            .append = trace_stream,
                                            .flush = trace_flush,
                                            .fence = trace_fence,
                                            .store_line = trace_store_line};

static void write_image(const struct nvm_pool *pool, const char *path) {
  char name[PATH_MAX];
  static const char zero[IMAGE_BLOCK];
  snprintf(name, sizeof name, "%s.image", path);
  int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  uint64_t size = nvmi_file_size(&pool->header);
  bool good = fd >= 0 && ftruncate(fd, (off_t)size) == 0;
  for (uint64_t at = 0; good && at < size; at += IMAGE_BLOCK) {
    size_t length = size - at < IMAGE_BLOCK ? size - at : IMAGE_BLOCK;
    if (memcmp(pool->home + at, zero, length) != 0)
      good = pwrite(fd, pool->home + at, length, (off_t)at) == (ssize_t)length;
  }
  if (!good || close(fd))
    nvmi_die(name, "the image of the pool cannot be written: %s", strerror(errno));
}

static void *reserve(size_t size) {
  void *got =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED)
    nvmi_die(NULL, "out of memory for a trace");
  return got;
}

static void at_fork(void) {
  nvmi_tracing = false;
  trace.fd = -1;
}

/* At once: the first pool may be closed, and nothing may follow. */
static void trace_other(void) {
  nvmi_lock(&trace.lock);
  put(NVM_TRACE_OTHER, 0, 0, "", 0);
  flush_buffer();
  nvmi_unlock(&trace.lock);
}

void nvmi_trace_open(struct nvm_pool *pool) {
  const char *path = getenv("NVMOVE_TRACE");
  if (trace.fd >= 0)
    trace_other();
  if (!path || !*path || trace.pool)
    return;
  trace.fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (trace.fd < 0)
    nvmi_die(path, "the trace cannot be written: %s", strerror(errno));
  trace.buffer = reserve(BUFFER);
  trace.seen = reserve(pool->header.span);
  trace.noted = reserve(pool->header.span / 8);
  trace.sites = reserve(SITES_MAX * sizeof *trace.sites);
  trace.pool = pool;
  trace.real = pool->persist;
  uint64_t size = nvmi_file_size(&pool->header);
  memcpy(trace.seen + NVM_ROOT_OFFSET, pool->work + NVM_ROOT_OFFSET, sizeof(void *));
  memcpy(trace.seen + pool->header.heap_offset, pool->work + pool->header.heap_offset,
         pool->header.heap_size);
  write_image(pool, path);
  struct nvm_trace_header header = {NVM_TRACE_MAGIC, NVM_TRACE_VERSION,
                                    pool->method->private_work ? NVM_TRACE_APART : 0};
  memcpy(trace.buffer, &header, sizeof header);
  trace.used = sizeof header;
  put(NVM_TRACE_OPEN, size, pool->header.base, pool->path, strlen(pool->path) + 1);
  pool->persist = &wrapped;
  nvmi_tracing = true;
  pthread_atfork(NULL, NULL, at_fork);
}

void nvmi_trace_close(const struct nvm_pool *pool) {
  if (!nvmi_tracing || pool != trace.pool)
    return;
  flush_buffer();
  nvmi_tracing = false;
}

static void mark_noted(uint64_t place, uint64_t size) {
  for (uint64_t at = place; at < place + size; at++)
    trace.noted[at >> 6] |= UINT64_C(1) << (at & 63);
}

void nvmi_trace_event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                      uint64_t extra) {
  if (pool != trace.pool)
    return;
  nvmi_lock(&trace.lock);
  if (kind == NVM_TRACE_NOTE)
    mark_noted(place, extra);
  put(kind, place, extra, "", 0);
  if (kind == NVM_TRACE_COMMIT || kind == NVM_TRACE_ABORT) {
    if (trace.threads == 1)
      madvise(trace.noted, trace.pool->header.span / 8, MADV_DONTNEED);
    flush_buffer(); /* a process that is killed later has said so much */
  }
  nvmi_unlock(&trace.lock);
}

static uint64_t number_of(const struct nvm_site *site) {
  if (!site)
    return 0;
  uint64_t slot = ((uintptr_t)site >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48;
  while (trace.sites[slot] && trace.sites[slot] != site)
    slot = (slot + 1) % SITES_MAX;
  if (!trace.sites[slot]) {
    if (trace.site_count == SITES_MAX / 2) /* half empty, so that a search is short */
      nvmi_die(NULL,
               "a trace of more than %u places in the source; compile fewer files with "
               "--nvmove-trace",
               trace.site_count);
    trace.site_count++;
    char text[4096];
    uint32_t place[2] = {site->line, site->column};
    memcpy(text, place, sizeof place);
    int length = snprintf(text + sizeof place, sizeof text - sizeof place, "%s%c%s",
                          site->file ? site->file : "", 0, site->field ? site->field : "");
    if (length > (int)(sizeof text - sizeof place - 1))
      length = sizeof text - sizeof place - 1;
    trace.sites[slot] = site;
    put(NVM_TRACE_SITE, 0, slot + 1, text, sizeof place + (size_t)length + 1);
  }
  return slot + 1;
}

/* Whether somebody's store there would be missed: not a volatile field, and not the table of a
 * span, whose changes in the file show in a private view until a store parts the page. */
static bool matters(uint64_t place) {
  struct nvm_pool *pool = (struct nvm_pool *)trace.pool;
  uint64_t inside;
  uint32_t index;
  if (place < pool->header.heap_offset || !pool->heap->built)
    return true;
  const struct nvmi_span *span = nvmi_block_at(pool, place, &index, &inside);
  const struct nvm_type *type = span ? nvmi_type_layout(pool, span->words[index] - 1u) : NULL;
  return span && !(type && nvmi_type_volatile_at(type, inside));
}

/* Bytes that differ: noted ones were stored by a described function, others by nobody. */
static void compare_range(uint64_t from, uint64_t size) {
  const char *work = trace.pool->work;
  for (uint64_t at = from; at < from + size; at += 8) {
    if (memcmp(work + at, trace.seen + at, 8) == 0)
      continue;
    uint64_t bits = trace.noted[at >> 6] >> (at & 63) & 0xff;
    for (uint64_t byte = at; byte < at + 8; byte++) {
      if (work[byte] == trace.seen[byte])
        continue;
      bool noted = bits >> (byte - at) & 1;
      if (matters(byte))
        put(noted ? NVM_TRACE_STORE : NVM_TRACE_UNSEEN, byte, 0, work + byte, 1);
      trace.seen[byte] = work[byte];
    }
  }
}

void __nvm_trace_store(void *Address, size_t Size, const struct nvm_site *Site) {
  if (!nvmi_tracing || nvmi_pool_at(Address) != trace.pool || !Size)
    return;
  uint64_t place = offset_of(Address);
  nvmi_lock(&trace.lock);
  memcpy(trace.seen + place, Address, Size);
  if (trace.threads == 1) { /* another's store may stand between itself and its record */
    uint64_t page = place & ~(uint64_t)(PAGE - 1);
    compare_range(page < trace.pool->header.heap_offset ? place & ~UINT64_C(7) : page,
                  page < trace.pool->header.heap_offset ? 8 : PAGE);
  }
  put_pieces(NVM_TRACE_STORE, place, number_of(Site), Address, Size);
  nvmi_unlock(&trace.lock);
}

void __nvm_trace_output(int Descriptor, const struct nvm_site *Site) {
  if (!nvmi_tracing)
    return;
  nvmi_lock(&trace.lock);
  put(NVM_TRACE_OUTPUT, (uint64_t)(int64_t)Descriptor, number_of(Site), "", 0);
  nvmi_unlock(&trace.lock);
}

void nvmi_trace_compare(const struct nvm_pool *pool) {
  if (pool != trace.pool)
    return;
  const struct nvm_header *header = &pool->header;
  const uint64_t *chunks = (const void *)(pool->home + NVM_CHUNKS_OFFSET);
  nvmi_lock(&trace.lock);
  compare_range(NVM_ROOT_OFFSET, sizeof(void *));
  uint64_t count = header->heap_size >> NVM_CHUNK_SHIFT;
  for (uint64_t chunk = 0, length; chunk < count; chunk += length) {
    length = chunks[chunk] >> 32 ? chunks[chunk] >> 32 : 1;
    unsigned kind = chunks[chunk] & 0xff;
    if (kind == NVM_CHUNK_SMALL || kind == NVM_CHUNK_LARGE)
      compare_range(header->heap_offset + (chunk << NVM_CHUNK_SHIFT), length << NVM_CHUNK_SHIFT);
  }
  nvmi_unlock(&trace.lock);
}
