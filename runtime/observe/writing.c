/* writing.c: the file of a process: lines of text, written beside the last ones and then renamed.
 *
 *   nvmove-observation 1
 *   program PATH
 *   end killed|exit
 *   points N
 *   part BASE START END data|code PATH      of each module, as it is mapped; -: of the program
 *   stack N MADE BYTES EARLY UNLINKED LINKED ALIVE ALIVE-MAX LINKED-MAX SIZE-MIN SIZE-MAX WAIT-FIRST WAIT-LAST ADDRESS...
 *   edge v|b|f FROM OFFSET STACK MOST SINCE UNTIL
 *   done
 *
 * Numbers are decimal, addresses hexadecimal. A file without the last line is not whole.
 */
#define _GNU_SOURCE
#include "observe/writing.h"

#include "observe/edges.h"
#include "observe/modules.h"
#include "observe/observe.h"
#include "observe/stacks.h"

#include "base/uncancelled.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUFFER (1u << 16)

struct out {
  int fd;
  bool failed;
  size_t used;
  char text[BUFFER];
};

static struct out out;

static void flush(void) {
  for (size_t done = 0; done < out.used && !out.failed;) {
    long wrote = syscall(SYS_write, out.fd, out.text + done, out.used - done);
    out.failed = wrote <= 0;
    done += wrote > 0 ? (size_t)wrote : 0;
  }
  out.used = 0;
}

static void put(const char *text) {
  size_t length = strlen(text);
  if (out.used + length > BUFFER)
    flush();
  if (length > BUFFER)
    return;
  memcpy(out.text + out.used, text, length);
  out.used += length;
}

/* On one line, whatever it has. */
static void put_path(const char *path) {
  for (const char *at = path; *at; at++)
    put((char[]){*at == '\n' ? '?' : *at, 0});
}

static void put_number(uint64_t number, unsigned base) {
  char digits[24], *at = digits + sizeof digits;
  *--at = 0;
  do
    *--at = "0123456789abcdef"[number % base];
  while (number /= base);
  put(" ");
  put(at);
}

static void put_program(void) {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  put("program ");
  put_path(path);
  put("\n");
}

static void put_part(const struct nvmi_observe_part *part) {
  put("part");
  put_number(part->base, 16);
  put_number(part->start, 16);
  put_number(part->end, 16);
  put(part->is_data ? " data " : " code ");
  put_path(*part->name ? part->name : "-");
  put("\n");
}

static void put_stack(uint32_t number) {
  const struct nvmi_observe_stack *stack = nvmi_observe_stack_at(number);
  const uint64_t numbers[] = {number,
                              stack->made,
                              stack->bytes,
                              stack->freed_early,
                              stack->freed_unlinked,
                              stack->freed_linked,
                              stack->alive,
                              stack->alive_max,
                              stack->linked_max,
                              stack->size_min,
                              stack->size_max,
                              stack->wait_first,
                              stack->wait_last};
  put("stack");
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    put_number(numbers[i], 10);
  for (unsigned i = 0; i < stack->depth; i++)
    put_number(stack->address[i], 16);
  put("\n");
}

static void put_edge(const struct nvmi_observe_edge *edge) {
  char kind[] = "edge ?";
  kind[5] = edge->kind;
  put(kind);
  put_number(edge->from, edge->kind == 'b' ? 10 : 16);
  put_number(edge->offset, 10);
  put_number(edge->to, 10);
  put_number(edge->most, 10);
  put_number(edge->since, 10);
  put_number(edge->until, 10);
  put("\n");
}

static void put_all(uint64_t points, const char *end) {
  put("nvmove-observation 1\n");
  put_program();
  put("end ");
  put(end);
  put("\npoints");
  put_number(points, 10);
  put("\n");
  size_t count;
  const struct nvmi_observe_part *parts = nvmi_observe_parts(&count);
  for (size_t i = 0; i < count; i++)
    put_part(&parts[i]);
  for (uint32_t i = 0; i < nvmi_observe_stack_count(); i++)
    if (nvmi_observe_stack_at(i)->made || nvmi_observe_stack_at(i)->wait_first)
      put_stack(i);
  size_t slots;
  const struct nvmi_observe_edge *edges = nvmi_observe_edges(&slots);
  for (size_t i = 0; i < slots; i++)
    if (edges[i].kind && edges[i].most)
      put_edge(&edges[i]);
  put("done\n");
  flush();
}

/* Without the C library, which may allocate: the lock is taken. */
static void tell_once(const char *path) {
  static bool told;
  out.fd = STDERR_FILENO;
  out.failed = told;
  put("nvmove: observe: cannot write ");
  put(path);
  put("\n");
  flush();
  told = true;
}

/* A program that executes itself again has the same process: each image has a file of its own. */
static bool name_files(const char *folder, char *path, char *new) {
  for (unsigned image = 0;; image++) {
    int length = snprintf(path, PATH_MAX, "%s/%d.%u.raw", folder, (int)getpid(), image);
    snprintf(new, PATH_MAX, "%s/%d.%u.new", folder, (int)getpid(), image);
    if (length < 0 || length >= PATH_MAX) {
      *path = 0;
      return false;
    }
    if (access(path, F_OK) != 0)
      return true;
  }
}

void nvmi_observe_write(const char *folder, uint64_t points, const char *end) {
  static char path[PATH_MAX], new[PATH_MAX];
  if (!*path && !name_files(folder, path, new))
    return;
  out.fd = NVMI_UNCANCELLED(open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  out.failed = out.fd < 0;
  out.used = 0;
  if (out.failed) {
    tell_once(new);
    return;
  }
  put_all(points, end);
  NVMI_UNCANCELLED(close(out.fd));
  if (!out.failed)
    rename(new, path);
}
