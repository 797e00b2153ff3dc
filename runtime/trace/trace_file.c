/* trace_file.c: the file of a trace: its windows, its records, the image beside it.
 *
 * Records are written through a shared mapping of the file, so that whatever ends the process
 * (_exit, exec, SIGKILL) takes none of them with it. The file is extended by windows of zeros, of
 * which one is mapped; what is left of a window when the next record does not fit stays zero. The
 * first word of a record says first that it is begun, and at last what it is.
 *
 * The file is never truncated: a second process of the same run finds it in use, and says in it
 * that it has opened a pool, behind the window. Both append. A file of NVMOVE_TRACE_MAX bytes is
 * full: it says so and ends, the program goes on. Neither the file nor the image replaces anything
 * that is no trace.
 */
#define _GNU_SOURCE
#include "trace/trace_file.h"

#include "base/holes.h"
#include "base/own_files.h"
#include "base/settings.h"
#include "base/uncancelled.h"
#include "trace/trace_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  RECORD = sizeof(struct nvm_trace_record),
  WINDOW = 1 << 17,
  PIECE = WINDOW / 2, /* of a long payload: a record always fits into a window */
  IMAGE_BLOCK = 1 << 16
};

static const char zero[WINDOW];

static struct {
  int fd;
  dev_t device;
  ino_t inode;
  char *mapped; /* the pages around the window, or null */
  size_t mapped_size;
  char *at, *end; /* in the window: of the next record; with room for one that says FULL behind */
  uint64_t left;  /* bytes until it is full */
  bool full;
  char image[PATH_MAX];
} file = {.fd = -1};

void *nvmi_trace_reserve(size_t size) {
  void *got =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED)
    nvmi_die(NULL, "out of memory for a trace");
  return got;
}

/* The program may have closed the descriptor, and have a file of its own there. */
static bool stands(void) {
  struct stat status;
  return fstat(file.fd, &status) == 0 && status.st_dev == file.device &&
         status.st_ino == file.inode;
}

static void close_file(void) {
  if (stands())
    NVMI_UNCANCELLED(close(file.fd));
  file.fd = -1;
}

static void append(const void *bytes, size_t size) {
  ssize_t n;
  if (!stands())
    nvmi_die(NULL, "the trace cannot be written: the program has closed its descriptor");
  while ((n = NVMI_UNCANCELLED(write(file.fd, bytes, size))) < 0 && errno == EINTR)
    continue;
  if (n != (ssize_t)size)
    nvmi_die(NULL, "the trace cannot be written: %s", strerror(n < 0 ? errno : ENOSPC));
}

/* That is in use. */
static void check_content(const char *path) {
  uint64_t magic = 0;
  bool is_trace = NVMI_UNCANCELLED(pread(file.fd, &magic, sizeof magic, 0)) == sizeof magic &&
                  magic == NVM_TRACE_MAGIC;
  if (!is_trace)
    nvmi_die(path, "the trace cannot be written: the file is no trace, and is not replaced; name "
                   "another in NVMOVE_TRACE");
}

/* Of a trace that begins. */
static void check_image(const char *path) {
  struct stat status;
  if ((size_t)snprintf(file.image, sizeof file.image, "%s.image", path) >= sizeof file.image)
    nvmi_die(path, "the trace cannot be written: %s", strerror(ENAMETOOLONG));
  if (stat(file.image, &status) == 0 && status.st_size != 0)
    nvmi_die(file.image, "the image of the pool cannot be written: the file is there already, and "
                         "is not replaced; remove it, or name another in NVMOVE_TRACE");
}

bool nvmi_trace_file_open(const char *path) {
  static const struct nvm_trace_record other = {.kind = NVM_TRACE_OTHER};
  struct stat status;
  if (stat(path, &status) != 0 || status.st_size == 0)
    check_image(path);
  file.fd = nvmi_open(path, O_CREAT | O_RDWR | O_APPEND, 0600);
  if (file.fd < 0 || fstat(file.fd, &status))
    nvmi_die(path, "the trace cannot be written: %s", strerror(errno));
  file.device = status.st_dev;
  file.inode = status.st_ino;
  if (status.st_size != 0) {
    check_content(path);
    append(&other, sizeof other);
    close_file();
    return false;
  }
  uint64_t bytes = nvmi_setting_number("NVMOVE_TRACE_MAX");
  file.left = bytes ? bytes : UINT64_MAX;
  file.full = false;
  return true;
}

bool nvmi_trace_file_is(int descriptor) { return descriptor >= 0 && descriptor == file.fd; }

bool nvmi_trace_file_has(dev_t device, ino_t inode) {
  return file.fd >= 0 && file.device == device && file.inode == inode;
}

bool nvmi_trace_file_is_open(void) { return file.mapped != NULL; }

static void unmap(void) {
  if (file.mapped)
    munmap(file.mapped, file.mapped_size);
  file.mapped = file.at = file.end = NULL;
}

/* The mapping did not come along. */
void nvmi_trace_file_forget(void) {
  close_file();
  file.mapped = file.at = file.end = NULL;
}

void nvmi_trace_file_discard(void) {
  unmap();
  if (ftruncate(file.fd, 0) || truncate(file.image, 0))
    nvmi_die(NULL, "the trace cannot be emptied: %s", strerror(errno));
  close_file();
}

/* In one piece, so that what another process appends lies before or behind it. */
static void map_next(size_t size) {
  append(zero, size);
  uint64_t place = (uint64_t)lseek(file.fd, 0, SEEK_CUR) - size;
  uint64_t first = place & ~(uint64_t)(NVMI_TRACE_PAGE - 1);
  unmap();
  file.mapped_size = place - first + size;
  char *mapped =
      mmap(NULL, file.mapped_size, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, (off_t)first);
  if (mapped == MAP_FAILED)
    nvmi_die(NULL, "the trace cannot be mapped: %s", strerror(errno));
  madvise(mapped, file.mapped_size, MADV_DONTFORK); /* nobody forks: the trace's lock is held */
  file.mapped = mapped;
  file.at = mapped + (place - first);
  file.end = file.at + size - RECORD;
}

static bool has_room(size_t size) {
  if (size <= (size_t)(file.end - file.at))
    return true;
  size_t window = file.left < WINDOW ? file.left & ~UINT64_C(7) : WINDOW;
  if (window < size + RECORD)
    return false;
  map_next(window);
  file.left -= window;
  return true;
}

/* With an alias table what the program stores is not in the file yet, either. */
uint32_t nvmi_trace_flags(const struct nvmi_method *method) {
  if (method->store)
    return NVM_TRACE_APART | (method->entries ? NVM_TRACE_LATB : NVM_TRACE_LAT);
  return method->private_work ? NVM_TRACE_APART : 0;
}

void nvmi_trace_start(uint32_t flags) {
  struct nvm_trace_header header = {NVM_TRACE_MAGIC, NVM_TRACE_VERSION, flags};
  if (file.left < sizeof header + RECORD)
    file.left = sizeof header + RECORD;
  has_room(sizeof header);
  memcpy(file.at, &header, sizeof header);
  file.at += sizeof header;
}

static void say(char *to, const struct nvm_trace_record *record) {
  uint64_t word;
  memcpy(&word, record, sizeof word);
  nvmi_compiler_barrier();
  __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELAXED);
  nvmi_compiler_barrier();
}

static void write_record(struct nvm_trace_record record, const void *payload) {
  uint16_t kind = record.kind;
  record.kind = NVM_TRACE_PART;
  say(file.at, &record);
  memcpy(file.at + sizeof(uint64_t), &record.place, RECORD - sizeof(uint64_t));
  if (record.size)
    memcpy(file.at + RECORD, payload, record.size);
  record.kind = kind;
  say(file.at, &record);
  file.at += RECORD + ((record.size + 7u) & ~(size_t)7);
}

void nvmi_trace_put(unsigned thread, enum nvm_trace_kind kind, uint64_t place, uint64_t extra,
                    const void *payload, size_t size) {
  if (file.full)
    return;
  if (has_room(RECORD + ((size + 7) & ~(size_t)7))) {
    write_record(
        (struct nvm_trace_record){(uint32_t)size, (uint16_t)kind, (uint16_t)thread, place, extra},
        payload);
    return;
  }
  nvmi_tracing = false;
  file.full = true;
  write_record((struct nvm_trace_record){.kind = NVM_TRACE_FULL}, NULL);
}

void nvmi_trace_put_pieces(unsigned thread, enum nvm_trace_kind kind, uint64_t place,
                           uint64_t extra, const char *payload, size_t size) {
  for (size_t at = 0; at < size; at += PIECE)
    nvmi_trace_put(thread, kind, place + at, extra, payload + at,
                   size - at < PIECE ? size - at : PIECE);
}

void nvmi_trace_image(int from_fd, const char *bytes, uint64_t size) {
  int fd = nvmi_open(file.image, O_CREAT | O_WRONLY, 0600);
  bool good = fd >= 0 && ftruncate(fd, (off_t)size) == 0;
  for (uint64_t from = 0, end; good && nvmi_next_data(from_fd, &from, &end, size); from = end) {
    for (uint64_t at = from; good && at < end; at += IMAGE_BLOCK) {
      size_t length = end - at < IMAGE_BLOCK ? end - at : IMAGE_BLOCK;
      if (memcmp(bytes + at, zero, length) != 0)
        good = NVMI_UNCANCELLED(pwrite(fd, bytes + at, length, (off_t)at)) == (ssize_t)length;
    }
  }
  if (!good || NVMI_UNCANCELLED(close(fd)))
    nvmi_die(file.image, "the image of the pool cannot be written: %s", strerror(errno));
}
