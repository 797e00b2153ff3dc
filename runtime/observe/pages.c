/* pages.c: memory that may be unreadable, or so large that most of it was never touched. See
 * observe.h.
 *
 * A program may protect pages inside of its memory: what is larger than a page is copied by the
 * kernel, which says where it cannot. Where that is not allowed, it is read as it is. Of what is large
 * the kernel's table of pages tells which ones there are: the others are zero.
 */
#define _GNU_SOURCE
#include "observe/pages.h"

#include "observe/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u
#define SMALL (2 * PAGE)     /* bytes that no protected page lies in */
#define LARGE (1u << 20)     /* bytes from which on the table of pages is asked */
#define PAGES 64             /* that are copied at a time */
#define PRESENT (3ull << 62) /* in memory, or swapped out */

static uintptr_t copy[PAGES * PAGE / sizeof(uintptr_t)]; /* under the lock */

static int open_table(void) {
  return (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

/* Whether any of `count` pages is there. */
static bool some_are_there(int table, uintptr_t page, size_t count) {
  uint64_t entries[PAGES];
  long size =
      syscall(SYS_pread64, table, entries, count * sizeof *entries, page / PAGE * sizeof *entries);
  if (size != (long)(count * sizeof *entries))
    return true;
  for (size_t i = 0; i < count; i++)
    if (entries[i] & PRESENT)
      return true;
  return false;
}

/* Bytes of [start, end) that were copied: fewer, if a page cannot be read. */
static long copy_some(uintptr_t start, uintptr_t end) {
  struct iovec to = {copy, end - start}, from = {(void *)start, end - start};
  return syscall(SYS_process_vm_readv, (long)getpid(), &to, 1, &from, 1, 0);
}

static uintptr_t end_of_page(uintptr_t at) { return (at | (PAGE - 1)) + 1; }

void nvmi_observe_read(uintptr_t start, uintptr_t end,
                       void (*look)(const struct nvmi_observe_words *words, void *context),
                       void *context) {
  start = (start + sizeof(uintptr_t) - 1) & ~(sizeof(uintptr_t) - 1);
  end &= ~(sizeof(uintptr_t) - 1);
  if (start >= end)
    return;
  struct nvmi_observe_words words = {start, (const uintptr_t *)start,
                                     (end - start) / sizeof(uintptr_t)};
  if (end - start < SMALL) {
    look(&words, context);
    return;
  }
  int table = end - start >= LARGE ? open_table() : -1;
  for (uintptr_t next; start < end; start = next) {
    next = (start & ~(uintptr_t)(PAGE - 1)) + PAGES * PAGE;
    next = next < end ? next : end;
    if (table >= 0 &&
        !some_are_there(table, start & ~(uintptr_t)(PAGE - 1),
                        (end_of_page(next - 1) - (start & ~(uintptr_t)(PAGE - 1))) / PAGE))
      continue;
    long size = copy_some(start, next);
    bool as_it_is = size < 0 && errno != EFAULT;
    if (size < 0 && !as_it_is) { /* its first page */
      next = end_of_page(start) < end ? end_of_page(start) : end;
      continue;
    }
    size = as_it_is ? (long)(next - start) : size;
    words = (struct nvmi_observe_words){start, as_it_is ? (const uintptr_t *)start : copy,
                                        (size_t)size / sizeof(uintptr_t)};
    look(&words, context);
    next = start + (size_t)size;
  }
  if (table >= 0)
    syscall(SYS_close, table);
}
