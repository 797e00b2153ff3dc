// As global-array.c, but through a cursor and a helper that is given one record.
// Rule 9.
// Wrong: 'skill' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>

struct skill { // CHECK: skill [[@LINE]]
  int level, experience;
};
static struct skill skills[32];

static void readSkill(FILE *f, struct skill *s) {
  s->level = getc(f);
  s->experience = getc(f) << 8 | getc(f);
}

int load(FILE *f) {
  struct skill *s;
  for (s = skills; s < skills + 32; ++s)
    readSkill(f, s);
  return 0;
}
