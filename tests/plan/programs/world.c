// All in one variable: a title, a clock, objects with tables of functions and a union.
//
// load: world_load
// save: world_save
// file: world.txt
// data: meadow 7
// data: sheep 3 5
// data: wolf 9 4
// command: tick 3
// command: spawn 1
// command: title hill
// command: tick 2
// ask: s
/* a game world: entities with parent pointers and a vtable; big world struct; two lists (alive, by cell); text via vdprintf; saves config too */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct ent;
struct vt {
  const char *name;
  void (*tick)(struct ent *);
};
struct ent {
  const struct vt *vt;
  int id, x, hp;
  struct ent *target;
  struct ent *next;
  struct ent *cell_next;
  union {
    int gold;
    float angle;
    void *aux;
  } u;
};
#define CELLS 8
struct world {
  struct ent *alive;
  struct ent *cells[CELLS];
  int tick;
  int ids;
  char *title;
  int fd;
  struct {
    int spawned, died;
  } stats;
};
static struct world w = {.fd = 1, .ids = 1};
static void say(const char *f, ...) {
  va_list a;
  va_start(a, f);
  vdprintf(w.fd, f, a);
  va_end(a);
}
static void place(struct ent *e, int x) {
  e->x = x;
  e->cell_next = w.cells[x % CELLS];
  w.cells[x % CELLS] = e;
}
static void unplace(struct ent *e) {
  struct ent **p = &w.cells[e->x % CELLS];
  while (*p != e)
    p = &(*p)->cell_next;
  *p = e->cell_next;
}
static void walk(struct ent *e) {
  unplace(e);
  place(e, (e->x + 1) % 64);
}
static void bite(struct ent *e) {
  if (e->target) {
    e->target->hp -= 1;
    e->u.angle += 0.5f;
  } else
    for (struct ent *t = w.alive; t; t = t->next)
      if (t != e && t->vt != e->vt) {
        e->target = t;
        break;
      }
}
static const struct vt sheep = {"sheep", walk}, wolf = {"wolf", bite};
static const struct vt *vts[] = {&sheep, &wolf};
static struct ent *spawn(const struct vt *v, int x, int hp) {
  struct ent *e = calloc(1, sizeof(struct ent));
  e->vt = v;
  e->id = w.ids;
  w.ids += 1;
  e->hp = hp;
  place(e, x);
  e->next = w.alive;
  w.alive = e;
  w.stats.spawned += 1;
  return e;
}
static void reap(void) {
  for (struct ent **p = &w.alive; *p;)
    if ((*p)->hp <= 0) {
      struct ent *d = *p;
      *p = d->next;
      unplace(d);
      for (struct ent *t = w.alive; t; t = t->next)
        if (t->target == d)
          t->target = NULL;
      free(d);
      w.stats.died += 1;
    } else
      p = &(*p)->next;
}
static int world_load(const char *f) {
  FILE *fp = fopen(f, "r");
  char n[20], t[40];
  int x, hp;
  w.title = strdup("untitled");
  if (!fp)
    return -1;
  if (fscanf(fp, "%39s %d", t, &w.tick) == 2) {
    free(w.title);
    w.title = strdup(t);
  }
  while (fscanf(fp, "%19s %d %d", n, &x, &hp) == 3)
    spawn(vts[!strcmp(n, "wolf")], x, hp);
  fclose(fp);
  return 0;
}
static void world_save(const char *f) {
  FILE *fp = fopen(f, "w");
  if (!fp)
    return;
  fprintf(fp, "%s %d\n", w.title, w.tick);
  for (struct ent *e = w.alive; e; e = e->next)
    fprintf(fp, "%s %d %d\n", e->vt->name, e->x, e->hp);
  fclose(fp);
}
static void run(char *l) {
  int n;
  char t[40];
  if (sscanf(l, "tick %d", &n) == 1) {
    while (n--) {
      for (struct ent *e = w.alive; e; e = e->next)
        e->vt->tick(e);
      reap();
      w.tick += 1;
    }
    say("t=%d\n", w.tick);
  } else if (sscanf(l, "spawn %d", &n) == 1)
    say("#%d\n", spawn(vts[n & 1], 5, 3)->id);
  else if (sscanf(l, "title %39s", t) == 1) {
    free(w.title);
    w.title = strdup(t);
    say("titled\n");
  } else {
    char b[800];
    sprintf(b, "%s %d %d/%d:", w.title, w.tick, w.stats.spawned, w.stats.died);
    for (struct ent *e = w.alive; e; e = e->next)
      sprintf(b + strlen(b), " %s%d@%d/%d>%d", e->vt->name, e->id, e->x, e->hp,
              e->target ? e->target->id : 0);
    for (int i = 0; i < CELLS; i++)
      for (struct ent *e = w.cells[i]; e; e = e->cell_next)
        sprintf(b + strlen(b), ",%d", e->id);
    say("%s\n", b);
  }
}
int main(void) {
  char l[100];
  world_load("world.txt");
  while (fgets(l, 100, stdin))
    run(l);
  world_save("world.txt");
  return 0;
}
