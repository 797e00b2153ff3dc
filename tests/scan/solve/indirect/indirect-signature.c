// The pointer comes from a place that no assignment in sight fills (a plug-in interface): only the
// signature of functions whose address is taken says what is called.
// Rule 1: "else by exact signature over the address-taken functions of the same linked target".
// Wrong: 'track' missed; 'volume' (same signature, address never taken).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct importer {
  int (*accept)(FILE *f, unsigned length);
};
extern struct importer *findImporter(const char *name);
extern void registerImporter(const char *name, int (*accept)(FILE *f, unsigned length));

struct track { // CHECK: track [[@LINE]]
  unsigned length;
  struct track *next;
};
struct volume {
  unsigned length;
  struct volume *next;
};
static struct track *tracks;
static struct volume *volumes;

static int acceptTrack(FILE *f, unsigned length) {
  struct track *t = malloc(sizeof *t);
  fread(&t->length, sizeof t->length, 1, f);
  t->next = tracks;
  tracks = t;
  return length != 0;
}
int acceptVolume(FILE *f, unsigned length) {
  struct volume *v = malloc(sizeof *v);
  fread(&v->length, sizeof v->length, 1, f);
  v->next = volumes;
  volumes = v;
  return length != 0;
}
void start(void) { registerImporter("track", acceptTrack); }

int load(const char *path) {
  unsigned length;
  FILE *f = fopen(path, "rb");
  while (fread(&length, sizeof length, 1, f) == 1)
    findImporter("track")->accept(f, length);
  fclose(f);
  return 0;
}
