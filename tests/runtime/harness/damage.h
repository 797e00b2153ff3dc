/* damage.h: the kinds of damage to a closed pool that are known, and what can be done about each.
 */
#pragma once

#include "harness.h"

enum { DAMAGE_NODES = 20 }; /* of the list that is the pool's root (bound.h) */

struct image;

/* What mends it. */
enum damage_cure {
  CURE_REPAIR, /* nothing that the root leads to is lost */
  CURE_ROOT,   /* somebody has to say what the root was */
  CURE_NULL,   /* the pointer is lost */
  CURE_FORGET, /* what is lost is a layout, and with it the types of blocks */
  CURE_NONE
};

/* What is done to the pool, and a part of what is said. */
struct damage {
  const char *name, *said;
  void (*make)(struct image *image);
  enum damage_cure cure;
};

extern const struct damage damage_kinds[];
extern const size_t damage_count;

/* A pool with everything that can be damaged, closed. */
void damage_sound(const char *path);
/* A copy of it with this damage. */
void damage_copy(const char *sound, const char *path, const struct damage *kind);
/* The first that is said of the pool; empty: nothing. 512 bytes. */
void damage_judge(const char *path, char *heard);
