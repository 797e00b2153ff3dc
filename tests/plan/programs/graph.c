// A graph in a library of its own; answers are collected and written at once.
//
// load: load
// save: save
// file: map.txt
// data: ulm bonn 50
// data: bonn koeln 30
// command: road ulm koeln 70
// command: city trier
// command: road trier bonn 20
// command: road ulm trier 90
// ask: city ulm
// ask: city trier
// ask: city jena
#include "a.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
struct conf conf;
static char *outv[64];
static int outn;
static void emit(const char *s) {
  if (outn < 64)
    outv[outn++] = strdup(s);
}
static void flush_all(void) {
  for (int i = 0; i < outn; i++) {
    struct iovec v[2] = {{outv[i], strlen(outv[i])}, {"\n", 1}};
    if (writev(1, v, 2) < 0)
      exit(1);
    free(outv[i]);
  }
  outn = 0;
}
static int load(const char *p) {
  FILE *f = fopen(p, "r");
  char a[40], b[40];
  unsigned km;
  if (!f)
    return -1;
  while (fscanf(f, "%39s %39s %u", a, b, &km) == 3)
    road(city(a, 1), city(b, 1), km);
  fclose(f);
  return n_cities();
}
static int save(const char *p) {
  FILE *f = fopen(p, "w");
  if (!f)
    return -1;
  for (struct city *c = cities(); c; c = c->next)
    for (struct road *r = c->roads; r; r = r->next)
      if (c->id < r->to->id)
        fprintf(f, "%s %s %u\n", c->name, r->to->name, r->km);
  return fclose(f);
}
static void parse_conf(int argc, char **argv) {
  conf.file = "map.txt";
  conf.max_km = 100;
  for (int i = 1; i < argc; i++) {
    if (!strncmp(argv[i], "-m", 2))
      conf.max_km = atoi(argv[i] + 2);
    else if (!strncmp(argv[i], "-p", 2))
      conf.prefix = strdup(argv[i] + 2);
    else
      conf.file = argv[i];
  }
}
int main(int argc, char **argv) {
  char l[200], a[40], b[40];
  unsigned km;
  parse_conf(argc, argv);
  if (load(conf.file) < 0)
    fprintf(stderr, "no map\n");
  while (fgets(l, sizeof l, stdin)) {
    if (sscanf(l, "road %39s %39s %u", a, b, &km) == 3) {
      if (km > (unsigned)conf.max_km)
        emit("too long");
      else {
        road(city(a, 1), city(b, 1), km);
        emit("built");
      }
    } else if (sscanf(l, "city %39s", a) == 1) {
      char o[20];
      sprintf(o, "%d", city(a, 1)->id);
      emit(o);
    } else if (!strncmp(l, "dump", 4))
      map_dump(emit);
    else
      emit("?");
    flush_all();
  }
  return save(conf.file) < 0;
}
