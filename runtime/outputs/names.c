/* names.c: names that are changed: see outputs.h.
 *
 * A file of mkstemp is temporary: nobody knows its name, until it gets another one. That it is
 * written tells nobody anything.
 */
#define _GNU_SOURCE
#include "outputs/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

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
