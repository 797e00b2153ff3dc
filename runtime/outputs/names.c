/* names.c: names that are made, removed and changed, and files that get another length: see
 * outputs.h.
 *
 * A file of mkstemp is temporary: nobody knows its name, until it gets another one. That it is made,
 * written or removed tells nobody anything.
 */
#define _GNU_SOURCE
#include "outputs/outputs.h"
#include "outputs/streams.h"
#include "outputs/unwind.h"
#include "trace/trace_outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char nvmi_outputs_names = 1;

static bool look(int folder, const char *path, int flags, struct stat *status) {
  int before = errno;
  bool is_there = nvmi_tracing && path && fstatat(folder, path, status, flags) == 0;
  errno = before;
  return is_there;
}

static void end(struct nvmi_output *made) {
  nvmi_output_end(made, NVMI_NOWHERE, NVMI_ANY_OFFSET, 0);
}

#define IS_DONE (result == 0)

OUTPUT(int, mkdir, (const char *path, mode_t mode), (path, mode), IS_DONE, NVMI_NOWHERE)
OUTPUT(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), IS_DONE,
       NVMI_NOWHERE)
OUTPUT(int, rmdir, (const char *path), (path), IS_DONE, NVMI_NOWHERE)
OUTPUT(int, mkfifo, (const char *path, mode_t mode), (path, mode), IS_DONE, NVMI_NOWHERE)
OUTPUT(int, mkfifoat, (int folder, const char *path, mode_t mode), (folder, path, mode), IS_DONE,
       NVMI_NOWHERE)
OUTPUT(int, mknod, (const char *path, mode_t mode, dev_t device), (path, mode, device), IS_DONE,
       NVMI_NOWHERE)
OUTPUT(int, mknodat, (int folder, const char *path, mode_t mode, dev_t device),
       (folder, path, mode, device), IS_DONE, NVMI_NOWHERE)
OUTPUT(int, symlink, (const char *to, const char *path), (to, path), IS_DONE, NVMI_NOWHERE)
OUTPUT(int, symlinkat, (const char *to, int folder, const char *path), (to, folder, path), IS_DONE,
       NVMI_NOWHERE)

/* `from` gets a name that others may know. */
#define NAME(name, parameters, arguments, folder, from)                                            \
  NVMI_INTERPOSE int name parameters {                                                             \
    struct stat named;                                                                             \
    BEGIN(made);                                                                                   \
    bool is_there = look(folder, from, AT_SYMLINK_NOFOLLOW, &named);                               \
    int result = NEXT(name) arguments;                                                             \
    if (result == 0 && is_there)                                                                   \
      nvmi_trace_temporary(&named, false);                                                         \
    if (result == 0)                                                                               \
      end(&made);                                                                                  \
    return result;                                                                                 \
  }

NAME(rename, (const char *from, const char *to), (from, to), AT_FDCWD, from)
NAME(renameat, (int folder, const char *from, int to_folder, const char *to),
     (folder, from, to_folder, to), folder, from)
NAME(renameat2, (int folder, const char *from, int to_folder, const char *to, unsigned flags),
     (folder, from, to_folder, to, flags), folder, from)
NAME(link, (const char *from, const char *to), (from, to), AT_FDCWD, from)
NAME(linkat, (int folder, const char *from, int to_folder, const char *to, int flags),
     (folder, from, to_folder, to, flags), folder, from)

#define REMOVE(name, parameters, arguments, folder)                                                \
  NVMI_INTERPOSE int name parameters {                                                             \
    struct stat removed;                                                                           \
    BEGIN(made);                                                                                   \
    bool is_temporary =                                                                            \
        look(folder, path, AT_SYMLINK_NOFOLLOW, &removed) && nvmi_trace_is_temporary(&removed);    \
    int result = NEXT(name) arguments;                                                             \
    if (result == 0 && is_temporary)                                                               \
      nvmi_trace_temporary(&removed, false);                                                       \
    else if (result == 0)                                                                          \
      end(&made);                                                                                  \
    return result;                                                                                 \
  }

REMOVE(unlink, (const char *path), (path), AT_FDCWD)
REMOVE(unlinkat, (int folder, const char *path, int flags), (folder, path, flags), folder)
REMOVE(remove, (const char *path), (path), AT_FDCWD)

#define TEMPORARY(name, parameters, arguments)                                                     \
  NVMI_INTERPOSE int name parameters {                                                             \
    int result = NEXT(name) arguments, before = errno;                                             \
    struct stat status;                                                                            \
    if (result >= 0 && fstat(result, &status) == 0)                                                \
      nvmi_trace_temporary(&status, true);                                                         \
    errno = before;                                                                                \
    return result;                                                                                 \
  }

TEMPORARY(mkstemp, (char *path), (path))
TEMPORARY(mkstemp64, (char *path), (path))
TEMPORARY(mkostemp, (char *path, int flags), (path, flags))
TEMPORARY(mkostemp64, (char *path, int flags), (path, flags))
TEMPORARY(mkstemps, (char *path, int length), (path, length))
TEMPORARY(mkstemps64, (char *path, int length), (path, length))
TEMPORARY(mkostemps, (char *path, int length, int flags), (path, length, flags))
TEMPORARY(mkostemps64, (char *path, int length, int flags), (path, length, flags))

#define RESIZE(name, first, argument, offset, is_there, is_output)                                 \
  NVMI_INTERPOSE int name(first, offset size) {                                                    \
    struct stat old;                                                                               \
    BEGIN(made);                                                                                   \
    bool changes = (is_there) && old.st_size != (off_t)size;                                       \
    int result = NEXT(name)(argument, size);                                                       \
    if (result == 0 && changes && (is_output))                                                     \
      end(&made);                                                                                  \
    return result;                                                                                 \
  }

#define IS_FILE (nvmi_tracing && fstat(fd, &old) == 0)
#define IS_NAMED nvmi_trace_leaves(fd)
#define IS_KNOWN (!nvmi_trace_is_pool(&old) && !nvmi_trace_is_temporary(&old))

RESIZE(ftruncate, int fd, fd, off_t, IS_FILE, IS_NAMED)
RESIZE(ftruncate64, int fd, fd, off64_t, IS_FILE, IS_NAMED)
RESIZE(truncate, const char *path, path, off_t, look(AT_FDCWD, path, 0, &old), IS_KNOWN)
RESIZE(truncate64, const char *path, path, off64_t, look(AT_FDCWD, path, 0, &old), IS_KNOWN)

/* Its length changes, or bytes inside. */
#define ALLOCATE(name, parameters, arguments, changes_bytes)                                       \
  NVMI_INTERPOSE int name parameters {                                                             \
    struct stat old, now;                                                                          \
    BEGIN(made);                                                                                   \
    bool is_there = IS_FILE;                                                                       \
    int result = NEXT(name) arguments;                                                             \
    if (result == 0 && is_there && IS_NAMED &&                                                     \
        ((changes_bytes) || (fstat(fd, &now) == 0 && now.st_size != old.st_size)))                 \
      end(&made);                                                                                  \
    return result;                                                                                 \
  }

#define BEYOND_SIZE (mode & ~FALLOC_FL_KEEP_SIZE)

ALLOCATE(fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size), BEYOND_SIZE)
ALLOCATE(fallocate64, (int fd, int mode, off64_t at, off64_t size), (fd, mode, at, size),
         BEYOND_SIZE)
ALLOCATE(posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size), false)
ALLOCATE(posix_fallocate64, (int fd, off64_t at, off64_t size), (fd, at, size), false)

/* Whether to open it makes a name, or takes the bytes away. */
static bool will_change(int folder, const char *path, int flags) {
  struct stat old;
  if (!nvmi_tracing || !(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE)
    return false;
  if (!look(folder, path, 0, &old))
    return flags & O_CREAT;
  return flags & O_TRUNC && S_ISREG(old.st_mode) && old.st_size > 0;
}

#define OPEN(name, parameters, last, arguments, folder)                                            \
  NVMI_INTERPOSE int name parameters {                                                             \
    mode_t mode = 0;                                                                               \
    BEGIN(made);                                                                                   \
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {                                     \
      va_list list;                                                                                \
      va_start(list, last);                                                                        \
      mode = va_arg(list, mode_t);                                                                 \
      va_end(list);                                                                                \
    }                                                                                              \
    bool changes = will_change(folder, path, flags);                                               \
    int result = NEXT(name) arguments;                                                             \
    if (changes && result >= 0 && nvmi_trace_leaves(result))                                       \
      end(&made);                                                                                  \
    return result;                                                                                 \
  }

OPEN(open, (const char *path, int flags, ...), flags, (path, flags, mode), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), flags, (path, flags, mode), AT_FDCWD)
OPEN(openat, (int folder, const char *path, int flags, ...), flags, (folder, path, flags, mode),
     folder)
OPEN(openat64, (int folder, const char *path, int flags, ...), flags, (folder, path, flags, mode),
     folder)

#define CREATE(type, name, parameters, arguments, flags, is_output)                                \
  NVMI_INTERPOSE type name parameters {                                                            \
    BEGIN(made);                                                                                   \
    bool changes = will_change(AT_FDCWD, path, flags);                                             \
    type result = NEXT(name) arguments;                                                            \
    if (changes && (is_output))                                                                    \
      end(&made);                                                                                  \
    return result;                                                                                 \
  }

CREATE(int, creat, (const char *path, mode_t mode), (path, mode), O_CREAT | O_TRUNC,
       result >= 0 && nvmi_trace_leaves(result))
CREATE(int, creat64, (const char *path, mode_t mode), (path, mode), O_CREAT | O_TRUNC,
       result >= 0 && nvmi_trace_leaves(result))

static int flags_of(const char *mode) {
  return *mode == 'w' ? O_CREAT | O_TRUNC : *mode == 'a' ? O_CREAT : 0;
}

CREATE(FILE *, fopen, (const char *path, const char *mode), (path, mode), flags_of(mode),
       (result && nvmi_trace_leaves(fileno(result))))
CREATE(FILE *, fopen64, (const char *path, const char *mode), (path, mode), flags_of(mode),
       (result && nvmi_trace_leaves(fileno(result))))

/* What waits in the stream goes to the old file. */
#define REOPEN(name)                                                                               \
  NVMI_INTERPOSE FILE *name(const char *path, const char *mode, FILE *stream) {                    \
    BEGIN(made);                                                                                   \
    bool empties = nvmi_output_waits(stream);                                                      \
    bool changes = path && will_change(AT_FDCWD, path, flags_of(mode));                            \
    FILE *result = NEXT(name)(path, mode, stream);                                                 \
    if (empties || (changes && result && nvmi_trace_leaves(fileno(result))))                       \
      end(&made);                                                                                  \
    return result;                                                                                 \
  }

REOPEN(freopen)
REOPEN(freopen64)

static bool will_change_shared(const char *name, int flags) {
  char path[NAME_MAX + sizeof "/dev/shm/"];
  snprintf(path, sizeof path, "/dev/shm/%s", *name == '/' ? name + 1 : name);
  return will_change(AT_FDCWD, path, flags);
}

NVMI_INTERPOSE int shm_open(const char *name, int flags, mode_t mode) {
  BEGIN(made);
  bool changes = will_change_shared(name, flags);
  int result = NEXT(shm_open)(name, flags, mode);
  if (changes && result >= 0)
    end(&made);
  return result;
}

OUTPUT(int, shm_unlink, (const char *name), (name), IS_DONE, NVMI_NOWHERE)
OUTPUT(int, sem_unlink, (const char *name), (name), IS_DONE, NVMI_NOWHERE)
OUTPUT(int, mq_unlink, (const char *name), (name), IS_DONE, NVMI_NOWHERE)
