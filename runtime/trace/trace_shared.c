/* trace_shared.c: memory through which others see a store at once, and which nobody traces: mappings
 * that are shared and may be written, of a file that is no open pool and not the trace.
 *
 * Looked at when a pool is closed or left; what was mapped and is no longer is not told. Devices and
 * memory without a file are left out.
 */
#define _GNU_SOURCE
#include "trace/trace_shared.h"

#include "trace/trace_file.h"
#include "trace/trace_state.h"

#include "base/own_files.h"
#include "base/uncancelled.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096 + 128, NAMED_MAX = 4 };

/* The file that a line of /proc/self/maps names, if it is one to be told; else null. */
static const char *shared_file(const char *line) {
  unsigned long start, inode;
  unsigned device_major, device_minor;
  char may[5];
  int path = 0;
  if (sscanf(line, "%lx-%*x %4s %*x %x:%x %lu %n", &start, may, &device_major, &device_minor,
             &inode, &path) < 5 ||
      may[1] != 'w' || may[3] != 's' || !inode || line[path] != '/')
    return NULL;
  bool is_device =
      strncmp(line + path, "/dev/", 5) == 0 && strncmp(line + path, "/dev/shm/", 9) != 0;
  bool is_known = start - NVM_RANGE_BASE < NVM_RANGE_SIZE ||
                  nvmi_own_file_has(makedev(device_major, device_minor), inode) ||
                  nvmi_trace_file_has(makedev(device_major, device_minor), inode);
  return is_device || is_known ? NULL : line + path;
}

/* Gives how many bytes are left: of a line that is not whole, now at the front. */
static size_t take_lines(unsigned *named, char *text) {
  for (char *end; (end = strchr(text, '\n')); text = end + 1) {
    *end = 0;
    const char *file = shared_file(text);
    if (file && *named < NAMED_MAX) {
      nvmi_trace_put(0, NVM_TRACE_SHARED, 0, 0, file, strlen(file) + 1);
      ++*named;
    }
  }
  return strlen(text);
}

void nvmi_trace_shared(void) {
  static char text[LINE_MAX_BYTES];
  unsigned named = 0;
  int fd = nvmi_open("/proc/self/maps", O_RDONLY, 0);
  for (size_t used = 0; fd >= 0;) {
    ssize_t got = NVMI_UNCANCELLED(read(fd, text + used, sizeof text - 1 - used));
    if (got <= 0)
      break;
    size_t all = used + (size_t)got;
    text[all] = 0;
    used = take_lines(&named, text);
    memmove(text, text + all - used, used + 1);
  }
  if (fd >= 0)
    NVMI_UNCANCELLED(close(fd));
}
