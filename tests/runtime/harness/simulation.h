/* simulation.h: a simulated power failure: what was not flushed and fenced may be lost, word by
 * word. The image that is left is then opened like any pool. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct power_cut {
  const char *path, *image; /* of a closed pool; what the media holds afterwards */
  const char *media;        /* what it held before; null: what the file has */
  /* The process dies, not the power: what was flushed arrives, the file keeps all stores. */
  bool kills;
  uint64_t at, seed; /* the event, counted from arming */
  int one; /* n: of what is on its way only the n-th from the end, or the first, is kept; -n: is
              lost */
  /* Of what the media did not hold before only this process's stores are kept: a line that was
   * visible, and that this one did not flush, is lost. */
  bool loses_old;
  bool broken_flush, broken_fence; /* the simulation's own tests: it must notice */
};

/* From now on pools of this process are in simulated persistent memory. */
void power_arm(const struct power_cut *cut);
/* Between the two calls no event counts, and the power holds. */
void power_hold(bool hold);
/* In place of each flush, before it; null: none. */
extern void (*power_flush)(const void *address);

/* Lets the power fail at each event of `act`, which arms the cut it is given, with some seeds at
 * each, in copies of the pool that `prepare` makes and closes at the path it is given; `verify` is
 * given each image. Both run in processes of their own. In short tests (test_is_long) neighbouring
 * events take turns in the seeds, and of many events more and more are left out. */
void power_fail_everywhere(const char *method, void (*prepare)(void *path), void (*act)(void *cut),
                           void (*verify)(const char *image));

/* The same after a death: `act` is killed at an event, goes on in another process with what it finds
 * in the file, and then the power fails. */
void power_fail_after_kills(const char *method, void (*prepare)(void *path), void (*act)(void *cut),
                            void (*verify)(const char *image));
