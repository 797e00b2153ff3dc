// Each kind of shape reads itself by a method of its class.
// load: load_drawing
// must: circle box
// either: shape
// never: class
#include <stdio.h>
#include <stdlib.h>
struct shape;
struct class { char tag; struct shape *(*make)(void); int (*read)(struct shape *, FILE *); };
struct shape { const struct class *of; struct shape *next; int layer; };
struct circle { struct shape base; double x, y, r; };
struct box { struct shape base; double x1, y1, x2, y2; };
static struct shape *new_circle(void) { return calloc(1, sizeof(struct circle)); }
static struct shape *new_box(void) { return calloc(1, sizeof(struct box)); }
static int read_circle(struct shape *s, FILE *f) { struct circle *c = (struct circle *)s; return fscanf(f, "%lf %lf %lf", &c->x, &c->y, &c->r); }
static int read_box(struct shape *s, FILE *f) { struct box *b = (struct box *)s; return fscanf(f, "%lf %lf %lf %lf", &b->x1, &b->y1, &b->x2, &b->y2); }
static const struct class classes[] = {{'c', new_circle, read_circle}, {'b', new_box, read_box}};
static struct shape *drawing;
int load_drawing(FILE *f) {
  int c, layer;
  while ((c = fgetc(f)) != EOF)
    for (int i = 0; i < 2; i++)
      if (classes[i].tag == c && fscanf(f, "%d", &layer) == 1) {
        struct shape *s = classes[i].make();
        s->of = &classes[i];
        s->layer = layer;
        if (classes[i].read(s, f) <= 0)
          return -1;
        s->next = drawing;
        drawing = s;
      }
  return 0;
}
