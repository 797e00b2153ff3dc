/* through.c: functions of the C library that allocate for their caller, in front of them.
 *
 * The library's own code keeps no frame pointers, so the chain of calls starts at the caller of the
 * function here. strdup is so short that it is written anew.
 */
#define _GNU_SOURCE
#include "observe/observe.h"
#include "observe/wrap.h"

#include <dirent.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define THROUGH(type, name, parameters, arguments)                                                 \
  type name parameters;                                                                            \
  FOUND(name)                                                                                      \
  NVMI_INTERPOSE type name parameters {                                                            \
    const void *outer = nvmi_observe_caller;                                                       \
    nvmi_observe_caller = outer ? outer : __builtin_frame_address(0);                              \
    type result = NEXT(name) arguments;                                                            \
    nvmi_observe_caller = outer;                                                                   \
    return result;                                                                                 \
  }

THROUGH(int, vasprintf, (char **to, const char *format, va_list values), (to, format, values))
THROUGH(int, __vasprintf_chk, (char **to, int flag, const char *format, va_list values),
        (to, flag, format, values))
THROUGH(char *, realpath, (const char *path, char *to), (path, to))
THROUGH(char *, getcwd, (char *to, size_t size), (to, size))
THROUGH(wchar_t *, wcsdup, (const wchar_t *text), (text))
THROUGH(int, scandir,
        (const char *path, struct dirent ***to, int (*takes)(const struct dirent *),
         int (*compare)(const struct dirent **, const struct dirent **)),
        (path, to, takes, compare))
THROUGH(void *, tsearch, (const void *key, void **root, int (*compare)(const void *, const void *)),
        (key, root, compare))

static char *copy_of(const char *text, size_t length, const void *frame) {
  const void *outer = nvmi_observe_caller;
  nvmi_observe_caller = outer ? outer : frame;
  char *copy = malloc(length + 1);
  nvmi_observe_caller = outer;
  if (copy) {
    memcpy(copy, text, length);
    copy[length] = 0;
  }
  return copy;
}

NVMI_INTERPOSE char *strdup(const char *text) {
  return copy_of(text, strlen(text), __builtin_frame_address(0));
}

NVMI_INTERPOSE char *strndup(const char *text, size_t most) {
  return copy_of(text, strnlen(text, most), __builtin_frame_address(0));
}

NVMI_INTERPOSE int asprintf(char **to, const char *format, ...) {
  const void *outer = nvmi_observe_caller;
  nvmi_observe_caller = outer ? outer : __builtin_frame_address(0);
  va_list values;
  va_start(values, format);
  int result = vasprintf(to, format, values);
  va_end(values);
  nvmi_observe_caller = outer;
  return result;
}

int __asprintf_chk(char **to, int flag, const char *format, ...);
NVMI_INTERPOSE int __asprintf_chk(char **to, int flag, const char *format, ...) {
  const void *outer = nvmi_observe_caller;
  nvmi_observe_caller = outer ? outer : __builtin_frame_address(0);
  va_list values;
  va_start(values, format);
  int result = __vasprintf_chk(to, flag, format, values);
  va_end(values);
  nvmi_observe_caller = outer;
  return result;
}
