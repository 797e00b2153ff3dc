/* backup.c: see include/nvmove/backup.h.
 *
 * The copy is made page by page: what differs from the copy so far is copied, again and again, the
 * last time in a pool that is quiesced (quiesce.h): so the pause is that of comparing, and of copying
 * what changed.
 *
 * A process that does not answer may be idle: then two rounds that find the same bytes will do. For
 * let the log of the copy be that of one moment between the two rounds, since no line of a log ever
 * gets the same bytes twice; a byte that was changed and changed back between the rounds was either
 * noted before that moment, and the copy's log has it, or after, and the log differs.
 *
 * Checked: the copy's image is recovered and looked through in memory as a repair would do it.
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/kill.h"
#include "base/own_files.h"
#include "base/progress.h"
#include "base/uncancelled.h"
#include "core/header.h"
#include "core/map.h"
#include "platform/disk.h"
#include "pool/pool.h"
#include "tx/quiesce.h"
#include "tx/tx.h"

#include "nvmove/backup.h"
#include "nvmove/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PIECE = 64 * PAGE, ASK_AGAIN_MS = 250, PATIENCE_SECONDS = 30, ROUNDS = 3 };

/* The source is read, not mapped: it may become shorter meanwhile. */
struct work {
  const char *path, *source; /* of the copy, and of the pool */
  int from, to;
  char *target, *piece;
  uint64_t size;
  struct nvm_backup *told;
};

static void unmap(struct work *work) {
  if (work->target)
    munmap(work->target, work->size);
  work->target = NULL;
}

/* Blocks on the disk for a pool of that size. 0, or -1: recorded. */
static int make_long(const struct work *work, uint64_t heap_offset, uint64_t size) {
  struct nvmi_size_limit hold;
  nvmi_size_limit_hold(&hold);
  uint64_t tables = NVM_CHUNKS_OFFSET + nvmi_chunk_table_size(size - heap_offset);
  int failed = NVMI_UNCANCELLED(posix_fallocate(work->to, 0, (off_t)tables));
  if (!failed)
    failed = NVMI_UNCANCELLED(
        posix_fallocate(work->to, (off_t)heap_offset, (off_t)(size - heap_offset)));
  if (!failed && ftruncate(work->to, (off_t)size))
    failed = errno;
  nvmi_size_limit_release(&hold);
  errno = failed;
  return failed ? nvmi_disk_fail(work->path, "cannot be made that long") : 0;
}

static int ends_early(const struct work *work) {
  return nvmi_fail(NVM_ETRUNCATED, work->source,
                   "the pool's file ends too early, it was not copied; " NVMI_REPAIR_HINT);
}

/* The pool's header as it is now: `heap_offset` never changes. 0, or -1: recorded. */
static int fit(struct work *work) {
  struct stat status;
  struct nvm_header header = {0};
  if (fstat(work->from, &status) || nvmi_disk_read(work->from, &header, sizeof header, 0) < 0)
    return nvmi_disk_fail(work->source, "cannot be examined");
  uint64_t size = (uint64_t)status.st_size;
  if (work->target && size == work->size)
    return 0;
  unmap(work);
  if (size < sizeof header || size <= header.heap_offset)
    return ends_early(work);
  work->size = size;
  if (make_long(work, header.heap_offset, size))
    return -1;
  void *target = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, work->to, 0);
  if (target == MAP_FAILED)
    return nvmi_disk_fail(work->path, "cannot be mapped");
  work->target = target;
  return 0;
}

/* Copies what differs of a piece; gives its bytes. */
static uint64_t copy_piece(struct work *work, uint64_t at, size_t size) {
  uint64_t copied = 0;
  for (size_t i = 0; i < size; i += PAGE) {
    size_t part = size - i < PAGE ? size - i : PAGE;
    if (memcmp(work->piece + i, work->target + at + i, part) == 0)
      continue;
    memcpy(work->target + at + i, work->piece + i, part);
    copied += part;
  }
  return copied;
}

/* What a round over all pages found. */
struct round {
  uint64_t copied; /* bytes that differed */
  bool same;       /* there were none, and the size stayed */
  bool cut;        /* the file ended earlier than it had just said */
};

/* Copies the pages that differ. -1: recorded, also of a page that cannot be read. */
static int round_of(struct work *work, struct round *round) {
  uint64_t before = work->target ? work->size : 0;
  *round = (struct round){0};
  if (fit(work))
    return -1;
  for (uint64_t at = 0; at < work->size && !round->cut; at += PIECE) {
    size_t size = work->size - at < PIECE ? work->size - at : PIECE;
    nvmi_progress(at, work->size);
    ssize_t got = nvmi_disk_read(work->from, work->piece, size, at);
    if (got < 0)
      return nvmi_disk_fail(work->source, "cannot be read");
    round->copied += copy_piece(work, at, (size_t)got);
    round->cut = (size_t)got < size;
  }
  round->same = before == work->size && !round->copied && !round->cut;
  nvmi_step(NVMI_STEP_CREATE);
  return 0;
}

/* While anybody may write: most of it. */
static int first_rounds(struct work *work) {
  for (int i = 0; i < ROUNDS; i++) {
    struct round round;
    if (round_of(work, &round))
      return -1;
    work->told->bytes_twice += i ? round.copied : 0;
    if (i && round.copied < work->size / 16)
      break;
  }
  return 0;
}

/* Nobody writes now. `*whole`: the copy has all that the file has; nobody comes after this. */
static int last_round(struct work *work, bool *whole) {
  struct round round;
  double began = nvmi_now();
  if (round_of(work, &round))
    return -1;
  work->told->bytes_twice += round.copied;
  work->told->pause = nvmi_now() - began;
  *whole = !round.cut;
  return 0;
}

/* What is in it nobody may read who may not read the pool, also before it is whole. */
static int open_copy(const struct work *work, const char *folder, char *name, size_t room) {
  *name = 0;
  if (access(work->path, F_OK) == 0)
    return nvmi_fail(NVM_EEXISTS, work->path, "the file exists; a copy goes into a new one");
  int fd = nvmi_disk_open_new(work->path, folder, nvmi_open, 0600, name, room);
  if (fd >= 0)
    nvmi_disk_share_as(fd, work->from);
  return fd;
}

struct news {
  char line[256]; /* the first that is wrong */
};

static void hear(void *context, enum nvm_repair_news what, const char *line) {
  struct news *news = context;
  (void)what;
  if (!*news->line)
    snprintf(news->line, sizeof news->line, "%s", line);
}

/* Checked, on the disk, and only then under its name. */
static int finish(struct work *work, const char *folder, const char *name) {
  char self[64];
  struct news news = {""};
  struct nvm_repair look = {.dry_run = true, .tables_only = true, .report = hear, .context = &news};
  snprintf(self, sizeof self, "/proc/self/fd/%d", work->to);
  const char *from = *name ? name : self;
  memset(work->target + NVM_BACKUP_OFFSET, 0, sizeof(struct nvm_backup_words));
  unmap(work);
  if (nvm_pool_repair(from, &look) < 0)
    return -1;
  if (*news.line)
    return nvmi_fail(NVM_ECORRUPT, work->path, "the pool is damaged, it was not copied: %s",
                     news.line);
  if (nvmi_disk_sync(work->path, work->to))
    return -1;
  nvmi_step(NVMI_STEP_CREATE);
  if (linkat(AT_FDCWD, from, AT_FDCWD, work->path, AT_SYMLINK_FOLLOW))
    return nvmi_disk_fail(work->path, "cannot be created");
  int fd = nvmi_open(folder, O_RDONLY | O_DIRECTORY, 0);
  int result = fd < 0 ? nvmi_disk_fail(folder, "cannot be opened") : nvmi_disk_sync(folder, fd);
  if (fd >= 0)
    NVMI_UNCANCELLED(close(fd));
  if (result)
    unlink(work->path);
  work->told->bytes = work->size;
  return result;
}

/* `copy` brings the source to the target, consistent. */
static int back_up(int from, const char *source, const char *path, struct nvm_backup *told,
                   int (*copy)(struct work *work, void *context), void *context) {
  char folder[PATH_MAX], name[PATH_MAX + 32], buffer[PATH_MAX];
  if (!path || !*path || strlen(path) >= PATH_MAX)
    return nvmi_fail(NVM_EARGUMENT, NULL, "no path was given for the copy, or too long a one");
  nvmi_kill_arm();
  memcpy(buffer, path, strlen(path) + 1);
  snprintf(folder, sizeof folder, "%s", dirname(buffer));
  struct work work = {.path = path,
                      .source = source,
                      .from = from,
                      .told = told,
                      .piece = nvmi_dram_reserve(PIECE)};
  if (!work.piece)
    return nvmi_fail(NVM_ENOMEMORY, path, "out of memory");
  work.to = open_copy(&work, folder, name, sizeof name);
  int result = work.to < 0 || copy(&work, context) || finish(&work, folder, name) ? -1 : 0;
  unmap(&work);
  munmap(work.piece, PIECE);
  if (work.to >= 0)
    NVMI_UNCANCELLED(close(work.to));
  if (work.to >= 0 && *name)
    unlink(name);
  return result;
}

static int copy_own(struct work *work, void *context) {
  struct nvm_pool *pool = context;
  bool whole = false;
  if (first_rounds(work) || nvmi_quiesce(pool))
    return -1;
  int result = last_round(work, &whole);
  nvmi_thaw(pool);
  return result || whole ? result : ends_early(work);
}

static void begin_report(struct nvm_backup *told) {
  told->bytes = told->bytes_twice = 0;
  told->pause = 0;
  told->was_open = true;
}

int nvm_pool_backup(NVM_POOL *pool, const char *path, struct nvm_backup *backup) {
  struct nvm_backup own = {0}, *told = backup ? backup : &own;
  if (!pool || pool->forked)
    return nvmi_fail(pool ? NVM_ECHILD : NVM_EARGUMENT, pool ? pool->path : NULL,
                     pool ? "a forked child has no pool" : "no pool was given");
  if (pool->is_copy)
    return nvmi_fail(NVM_EARGUMENT, pool->path, "what was opened as a copy has no file of its own");
  if (nvmi_disk_stands(pool->path, pool->fd))
    return -1;
  begin_report(told);
  enum nvm_error error = nvmi_tx_finish_implicit(nvmi_thread_self());
  if (error)
    return nvmi_fail(error, pool->path,
                     "what was stored outside transactions could not be committed");
  return back_up(pool->fd, pool->path, path, told, copy_own, pool);
}

/* Of a file that another process may have open. */
struct other {
  const char *path;
  struct nvm_backup_words *words;
  uint64_t asked;
  int fd;
};

/* Holds the byte whose release lets the other process go on. -1: recorded. */
static int lock_byte(int fd, const char *path) {
  struct flock byte = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = NVM_BACKUP_BYTE, .l_len = 1};
  if (NVMI_UNCANCELLED(fcntl(fd, F_OFD_SETLK, &byte)) == 0)
    return 0;
  return errno == EAGAIN || errno == EACCES
             ? nvmi_fail(NVM_EBUSY, path, "another backup of it is being made")
             : nvmi_disk_fail(path, "cannot be locked");
}

static uint64_t answered(const struct other *other) {
  return __atomic_load_n(&other->words->answered, __ATOMIC_ACQUIRE);
}

/* The process goes on. */
static void take_back(const struct other *other) {
  __atomic_store_n(&other->words->asked, 0, __ATOMIC_RELEASE);
  syscall(SYS_futex, (uint32_t *)&other->words->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool is_open_elsewhere(int fd) {
  return flock(fd, LOCK_SH | LOCK_NB) != 0; /* else ours for now: nobody opens it meanwhile */
}

/* A number that stands in no file's words, and not 0. */
static uint64_t new_number(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (((uint64_t)time.tv_sec << 32 | (uint32_t)time.tv_nsec) ^ (uint64_t)getpid() << 20) | 1;
}

/* Asks, and waits a little. */
static void ask(struct other *other) {
  struct timespec patience = {0, ASK_AGAIN_MS * 1000000L};
  uint64_t seen = answered(other);
  if (__atomic_load_n(&other->words->asked, __ATOMIC_ACQUIRE) != other->asked || !other->asked) {
    other->asked = new_number();
    __atomic_store_n(&other->words->asked, other->asked, __ATOMIC_RELEASE);
  }
  if (seen != other->asked)
    syscall(SYS_futex, (uint32_t *)&other->words->answered, FUTEX_WAIT, (uint32_t)seen, &patience,
            NULL, 0);
}

/* 1: copied, 0: not yet, -1: recorded. An answer that comes after all is found the next time. */
static int try_once(struct work *work, struct other *other) {
  bool whole = false;
  if (!is_open_elsewhere(other->fd))
    return last_round(work, &whole) ? -1 : whole ? 1 : ends_early(work);
  ask(other);
  if (answered(other) == other->asked) {
    if (last_round(work, &whole))
      return -1;
    bool held = answered(other) == other->asked;
    take_back(other);
    return !held ? 0 : whole ? 1 : ends_early(work);
  }
  struct round round;
  if (round_of(work, &round))
    return -1;
  work->told->bytes_twice += round.copied;
  return round.same;
}

static int copy_of_others(struct work *work, void *context) {
  struct other *other = context;
  double patience = work->told->seconds_max > 0 ? work->told->seconds_max : PATIENCE_SECONDS;
  if (lock_byte(other->fd, other->path) || first_rounds(work))
    return -1;
  char *page = nvmi_own_map(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, other->fd,
                            NVM_BACKUP_OFFSET & ~(PAGE - 1));
  if (page == MAP_FAILED)
    return nvmi_disk_fail(other->path, "cannot be mapped");
  other->words = (void *)(page + NVM_BACKUP_OFFSET % PAGE);
  int result = 0;
  for (double end = nvmi_now() + patience; result == 0;) {
    result = try_once(work, other);
    if (result == 0 && nvmi_now() > end)
      result = nvmi_fail(NVM_EBUSY, other->path,
                         "its program writes all the time and does not answer: no transaction of "
                         "its ends, or its library knows no backups");
  }
  if (other->asked)
    take_back(other);
  munmap(page, PAGE);
  return result < 0 ? -1 : 0;
}

int nvm_pool_backup_file(const char *pool_path, const char *path, struct nvm_backup *backup) {
  struct nvm_backup own = {0}, *told = backup ? backup : &own;
  struct nvm_pool look = {0};
  begin_report(told);
  if (!pool_path)
    return nvmi_fail(NVM_EARGUMENT, NULL, "no path was given");
  look.fd = nvmi_disk_open(pool_path, O_RDWR);
  if (look.fd < 0)
    return -1;
  snprintf(look.path, sizeof look.path, "%s", pool_path);
  told->was_open = is_open_elsewhere(look.fd);
  struct other other = {.path = pool_path, .fd = look.fd};
  int result = nvmi_header_read(&look)
                   ? -1
                   : back_up(look.fd, pool_path, path, told, copy_of_others, &other);
  nvmi_own_file_close(look.fd); /* and with it the byte: the process goes on */
  return result;
}
