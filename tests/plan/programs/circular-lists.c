// Lists whose heads are variables and whose links lie in the records.
//
// load: drawing_load
// save: drawing_save
// file: drawing.txt
// data: b rect 8 8
// data: default circle 3 0
// data: b rect 2 2
// command: circle 5
// command: layer c
// command: rect 2 3
// command: scale 1 2
// command: circle 7
// ask: circle 1
// ask: scale 3 2
// ask: scale 9 1
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct list_head {
  struct list_head *next, *prev;
};
#define LIST_HEAD(n) struct list_head n = {&(n), &(n)}
#define container_of(p, t, m) ((t *)((char *)(p) - offsetof(t, m)))
#define list_for_each(p, h) for (p = (h)->next; p != (h); p = p->next)
static inline void list_add_tail(struct list_head *n, struct list_head *h) {
  n->prev = h->prev;
  n->next = h;
  h->prev->next = n;
  h->prev = n;
}
static inline void list_del(struct list_head *n) {
  n->prev->next = n->next;
  n->next->prev = n->prev;
}
struct shape;
struct shape_ops {
  const char *name;
  double (*area)(const struct shape *);
  void (*scale)(struct shape *, double);
};
struct shape {
  struct list_head link, layer_link;
  const struct shape_ops *ops;
  int id;
  struct layer *layer;
  union {
    struct {
      double r;
    } circle;
    struct {
      double w, h;
    } rect;
  } u;
};
struct layer {
  struct list_head link;
  struct list_head shapes;
  char name[];
};
static LIST_HEAD(all);
static LIST_HEAD(layers);
static int last_id;
static struct layer *current;
static double circle_area(const struct shape *s) { return 3 * s->u.circle.r * s->u.circle.r; }
static double rect_area(const struct shape *s) { return s->u.rect.w * s->u.rect.h; }
static void circle_scale(struct shape *s, double f) { s->u.circle.r *= f; }
static void rect_scale(struct shape *s, double f) {
  s->u.rect.w *= f;
  s->u.rect.h *= f;
}
static const struct shape_ops circle_ops = {"circle", circle_area, circle_scale},
                              rect_ops = {"rect", rect_area, rect_scale};
static struct layer *get_layer(const char *name) {
  struct list_head *p;
  list_for_each(p, &layers) {
    struct layer *l = container_of(p, struct layer, link);
    if (!strcmp(l->name, name))
      return l;
  }
  struct layer *l = malloc(sizeof *l + strlen(name) + 1);
  strcpy(l->name, name);
  l->shapes.next = l->shapes.prev = &l->shapes;
  list_add_tail(&l->link, &layers);
  return l;
}
static struct shape *new_shape(struct layer *l, const struct shape_ops *ops, double a, double b) {
  struct shape *s = calloc(1, sizeof *s);
  s->ops = ops;
  s->id = ++last_id;
  s->layer = l;
  if (ops == &circle_ops)
    s->u.circle.r = a;
  else {
    s->u.rect.w = a;
    s->u.rect.h = b;
  }
  list_add_tail(&s->link, &all);
  list_add_tail(&s->layer_link, &l->shapes);
  return s;
}
static struct shape *find(int id) {
  struct list_head *p;
  list_for_each(p, &all) {
    struct shape *s = container_of(p, struct shape, link);
    if (s->id == id)
      return s;
  }
  return 0;
}
static void drawing_load(void) {
  FILE *f = fopen("drawing.txt", "r");
  char n[64], k[16];
  double a, b;
  if (!f)
    return;
  while (fscanf(f, "%63s %15s %lf %lf", n, k, &a, &b) == 4)
    new_shape(get_layer(n), !strcmp(k, "circle") ? &circle_ops : &rect_ops, a, b);
  fclose(f);
}
static void drawing_save(void) {
  FILE *f = fopen("drawing.txt", "w");
  struct list_head *p;
  if (!f)
    return;
  list_for_each(p, &all) {
    struct shape *s = container_of(p, struct shape, link);
    fprintf(f, "%s %s %g %g\n", s->layer->name, s->ops->name, s->u.rect.w, s->u.rect.h);
  }
  fclose(f);
}
int main(void) {
  char line[256], n[64];
  double a, b;
  int id;
  struct list_head *p;
  struct shape *s;
  drawing_load();
  current = get_layer("default");
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "layer %63s", n) == 1) {
      current = get_layer(n);
      puts("ok");
    } else if (sscanf(line, "circle %lf", &a) == 1)
      printf("%d\n", new_shape(current, &circle_ops, a, 0)->id);
    else if (sscanf(line, "rect %lf %lf", &a, &b) == 2)
      printf("%d\n", new_shape(current, &rect_ops, a, b)->id);
    else if (sscanf(line, "scale %d %lf", &id, &a) == 2) {
      if ((s = find(id))) {
        s->ops->scale(s, a);
        puts("scaled");
      } else
        puts("none");
    } else if (sscanf(line, "del %d", &id) == 1) {
      if ((s = find(id))) {
        list_del(&s->link);
        list_del(&s->layer_link);
        free(s);
        puts("deleted");
      } else
        puts("none");
    } else if (!strncmp(line, "dump", 4)) {
      list_for_each(p, &all) {
        s = container_of(p, struct shape, link);
        printf("%d %s %s %g\n", s->id, s->layer->name, s->ops->name, s->ops->area(s));
      }
      puts(".");
    } else
      puts("?");
    fflush(stdout);
  }
  drawing_save();
}
