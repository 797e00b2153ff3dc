// The load asks the configuration for its path first, and reads it when that was not done yet.
// FINDINGS: "logging and configuration code"; rule 2: the open nearest the load that is read.
// Wrong: 'option' reported (built from the configuration file, another input).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option {
  char name[16], value[48];
  struct option *next;
};
static struct option *options;

static void readOptions(void) {
  char name[16], value[48];
  FILE *f = fopen("/etc/example.conf", "r");
  if (!f)
    return;
  while (fscanf(f, "%15s %47s", name, value) == 2) {
    struct option *o = malloc(sizeof *o);
    strcpy(o->name, name);
    strcpy(o->value, value);
    o->next = options;
    options = o;
  }
  fclose(f);
}
static const char *optionText(const char *name) {
  struct option *o;
  if (!options)
    readOptions();
  for (o = options; o; o = o->next)
    if (!strcmp(o->name, name))
      return o->value;
  return "state";
}

struct sample { // CHECK: sample [[@LINE]]
  double value;
  struct sample *next;
};
static struct sample *samples;

int load(void) {
  double value;
  FILE *f = fopen(optionText("file"), "rb");
  while (fread(&value, sizeof value, 1, f) == 1) {
    struct sample *s = malloc(sizeof *s);
    s->value = value;
    s->next = samples;
    samples = s;
  }
  fclose(f);
  return 0;
}
