/* sectors.h: an ordinary disk, and a machine that ends.
 *
 * The disk is simulated behind msync and fsync (the linker sends both through sectors.c,
 * CMakeLists.txt): at steps of the runtime some sectors that have changed since are written, in any
 * order; at the end one may be written in part. A sync writes all of its range. One that fails
 * leaves pages that the kernel takes for written, until they are dropped from its cache.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Syncs, without an end of the machine: so many from now fails (0: none); microseconds that one takes. */
extern int sectors_failing;
extern unsigned sectors_delay;

struct sectors_end {
  const char *path, *image; /* the file; what the disk has of it in the end */
  uint64_t at;              /* the machine ends at this event, counted from 1 */
  uint64_t seed;
  const char *durable; /* what the disk has in the beginning; null: the file */
  bool goes_on;        /* file and disk are as the run before has left them; no `start` then */
  bool from_sync;      /* events are counted, and happen, from the first sync on */
  unsigned stride;     /* the kernel writes at every so many events; 0: at all */
  void (*run)(const void *argument);
  const void *argument;
};

/* In such a run: what the disk has now. */
void sectors_write_image(void);

/* Called in each sync, by its thread. */
extern void (*sectors_in_sync)(void);

/* Copies `start` to the file, and runs in a child; gives its status. */
int sectors_run(const struct sectors_end *end, const char *start);
/* The same. False: there are not so many events. */
bool sectors_end_machine(const struct sectors_end *end, const char *start);
