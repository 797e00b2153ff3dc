// One case of a switch ends the program; the others do not.
// Wrong: 'item' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct item { // CHECK: item [[@LINE]]
  int value;
  struct item *next;
};
static struct item *items;

static void keep(int value) {
  struct item *made = malloc(sizeof *made);
  made->value = value;
  made->next = items;
  items = made;
}

void load(const char *path) {
  FILE *f = fopen(path, "r");
  int c;
  while ((c = fgetc(f)) != EOF) {
    switch (c) {
    case '\n':
      break;
    case '+':
      keep(fgetc(f));
      break;
    default:
      exit(2);
    }
  }
  fclose(f);
}
