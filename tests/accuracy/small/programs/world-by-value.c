// A game's world: arrays and list heads by value in one global.
// load: restore
// must: actor region
// either: world
#include <stdio.h>
#include <stdlib.h>
struct actor { int hp, x, y; struct actor *next; };
struct region { char name[20]; int n; struct actor *here; };
struct world { int day; struct region regions[16]; struct actor *hero; };
struct world world;
static struct actor *read_actor(FILE *f) {
  struct actor *a = malloc(sizeof *a);
  if (fscanf(f, "%d %d %d", &a->hp, &a->x, &a->y) != 3) {
    free(a);
    return NULL;
  }
  a->next = NULL;
  return a;
}
int restore(const char *save) {
  int n;
  struct actor *a;
  FILE *f = fopen(save, "r");
  if (!f || fscanf(f, "%d", &world.day) != 1)
    return 0;
  world.hero = read_actor(f);
  for (int r = 0; r < 16 && fscanf(f, "%19s %d", world.regions[r].name, &n) == 2; r++)
    for (world.regions[r].n = 0; n-- && (a = read_actor(f)); world.regions[r].n++) {
      a->next = world.regions[r].here;
      world.regions[r].here = a;
    }
  return !fclose(f);
}
