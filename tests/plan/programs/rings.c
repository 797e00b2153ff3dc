// Rings of samples, a bitmap, a stream in a record; a function around the load keeps what that returns.
//
// load: start
// save: db_save
// file: series.txt
// data: cpu 3 1
// data: cpu 3 2
// data: mem 4 7
// command: push cpu 3
// command: new net 2
// command: push net 8
// command: push cpu 4
// command: push net 9
// ask: avg cpu
// ask: avg net
// ask: push cpu 1
// ask: avg mem
/* time series: ring buffers of samples in flexible arrays, id by position in a table of pointers, doubles, bytes via fread */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef struct sample {
  double v;
  unsigned t;
} sample;
typedef struct series {
  char label[20];
  unsigned head, len, cap;
  double sum;
  time_t created;
  FILE *watch;
  sample s[];
} series;
typedef struct db {
  series **all;
  int n;
  unsigned clock;
  unsigned char *bitmap;
  size_t bitlen;
} db;
static db *D;
static db *db_open(void) {
  db *d = calloc(1, sizeof *d);
  d->bitlen = 1;
  d->bitmap = calloc(1, 1);
  return d;
}
static series *add_series(db *d, const char *label, unsigned cap) {
  d->all = realloc(d->all, (d->n + 1) * sizeof *d->all);
  series *s = malloc(sizeof *s + cap * sizeof(sample));
  memset(s, 0, sizeof *s);
  strncpy(s->label, label, 19);
  s->cap = cap;
  s->created = time(NULL);
  d->all[d->n++] = s;
  return s;
}
static series *get(db *d, const char *l) {
  for (int i = 0; i < d->n; i++)
    if (!strcmp(d->all[i]->label, l))
      return d->all[i];
  return NULL;
}
static void push(db *d, series *s, double v) {
  if (s->len == s->cap)
    s->sum -= s->s[s->head].v;
  else
    s->len++;
  s->s[s->head] = (sample){v, ++d->clock};
  s->head = (s->head + 1) % s->cap;
  s->sum += v;
  size_t b = d->clock / 8;
  if (b >= d->bitlen) {
    d->bitmap = realloc(d->bitmap, b * 2 + 1);
    memset(d->bitmap + d->bitlen, 0, b * 2 + 1 - d->bitlen);
    d->bitlen = b * 2 + 1;
  }
  d->bitmap[b] |= 1 << d->clock % 8;
}
static db *db_load(const char *p) {
  db *d = db_open();
  FILE *f = fopen(p, "r");
  char l[20];
  unsigned cap;
  double v;
  if (!f)
    return d;
  while (fscanf(f, "%19s %u %lf", l, &cap, &v) == 3) {
    series *s = get(d, l);
    if (!s)
      s = add_series(d, l, cap);
    push(d, s, v);
  }
  fclose(f);
  return d;
}
static void db_save(db *d, const char *p) {
  FILE *f = fopen(p, "w");
  if (!f)
    return;
  for (int i = 0; i < d->n; i++)
    for (unsigned k = 0; k < d->all[i]->len; k++)
      fprintf(
          f, "%s %u %g\n", d->all[i]->label, d->all[i]->cap,
          d->all[i]->s[(d->all[i]->head + d->all[i]->cap - d->all[i]->len + k) % d->all[i]->cap].v);
  fclose(f);
}
static void tell(const char *fmt, double a, unsigned b) {
  printf(fmt, a, b);
  putchar('\n');
  fflush(stdout);
}
static void start(void) { D = db_load("series.txt"); }
int main(void) {
  char line[100], l[20];
  double v;
  unsigned cap;
  start();
  while (fgets(line, sizeof line, stdin)) {
    series *s;
    if (sscanf(line, "new %19s %u", l, &cap) == 2) {
      add_series(D, l, cap);
      tell("made %g %u", 0, D->n);
    } else if (sscanf(line, "push %19s %lf", l, &v) == 2) {
      if (!(s = get(D, l))) {
        tell("none", 0, 0);
        continue;
      }
      push(D, s, v);
      if (s->watch)
        fprintf(s->watch, "%g\n", v);
      tell("sum %g at %u", s->sum, D->clock);
    } else if (sscanf(line, "watch %19s", l) == 1 && (s = get(D, l))) {
      s->watch = fopen("/dev/null", "w");
      tell("watching", 0, 0);
    } else if (sscanf(line, "avg %19s", l) == 1 && (s = get(D, l))) {
      unsigned n = 0;
      for (size_t i = 0; i < D->bitlen; i++)
        n += __builtin_popcount(D->bitmap[i]);
      tell("avg %g bits %u", s->sum / s->len, n);
    } else
      tell("?", 0, 0);
  }
  db_save(D, "series.txt");
  return 0;
}
