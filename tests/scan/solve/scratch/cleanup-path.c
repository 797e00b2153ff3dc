// On an error everything that was built so far is freed; on success it stays.
// "Conditional, ordered frees": a free on the error path proves nothing.
// Wrong: 'scene' or 'lamp' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct lamp { // CHECK: lamp [[@LINE]]
  int power;
  struct lamp *next;
};
struct scene { // CHECK: scene [[@LINE]]
  struct lamp *lamps;
  int count;
};
static struct scene *scene;

static void sceneFree(struct scene *s) {
  while (s->lamps) {
    struct lamp *l = s->lamps;
    s->lamps = l->next;
    free(l);
  }
  free(s);
}

int load(const char *path) {
  struct scene *s = NULL;
  int i, result = -1;
  FILE *f = fopen(path, "rb");
  if (!f)
    goto out;
  s = calloc(1, sizeof *s);
  if (!s || fread(&s->count, sizeof s->count, 1, f) != 1)
    goto out;
  for (i = 0; i < s->count; ++i) {
    struct lamp *l = malloc(sizeof *l);
    if (!l)
      goto out;
    l->next = s->lamps;
    s->lamps = l;
    if (fread(&l->power, sizeof l->power, 1, f) != 1)
      goto out;
  }
  if (scene)
    sceneFree(scene);
  scene = s;
  s = NULL;
  result = 0;
out:
  if (s)
    sceneFree(s);
  if (f)
    fclose(f);
  return result;
}
