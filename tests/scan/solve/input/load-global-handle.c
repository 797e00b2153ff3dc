// The load function takes nothing; the handle is a global that another function opened.
// Load forms: no argument at all with a global handle.
// Wrong: nothing.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

static FILE *saveFile;
void openSave(const char *path) { saveFile = fopen(path, "rb"); }

static int readInt(void) {
  int n;
  return fread(&n, sizeof n, 1, saveFile) == 1 ? n : 0;
}

struct spell { // CHECK: spell [[@LINE]]
  int cost, power;
  struct spell *next;
};
static struct spell *spells;

void load(void) {
  int n = readInt();
  while (n--) {
    struct spell *s = malloc(sizeof *s);
    s->cost = readInt();
    s->power = readInt();
    s->next = spells;
    spells = s;
  }
}
