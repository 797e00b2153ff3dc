// What a restart has to bring back beside the data, and what it must not: descriptors, the flag of a handler.
//
// RUN: %plan --load load --save save %s -- | FileCheck %s
// CHECK: No roots, because the load makes nothing of them
// CHECK-NEXT: capacity, motto, record, title, undo, undone{{$}}
// CHECK-DAG: QUESTION: the load sets the variable journal to what open gives (restart.c:
// CHECK-DAG: QUESTION: the load sets the variable owner to what getpid gives
// CHECK: roots:
// CHECK-DAG: {name: first}
// CHECK-DAG: {name: unit} {{ *}}# set at restart.c
// CHECK-DAG: {name: language}
// CHECK-DAG: {name: order}
// CHECK-DAG: {name: raised}
// CHECK-NOT: {name: journal}
// CHECK-NOT: {name: quit}
// CHECK-NOT: {name: undone}
// CHECK: load:
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry { struct entry *next; int value; };
struct unit { const char *name; int factor; };
static struct entry *first;
static const struct unit units[] = {{"m", 1}, {"km", 1000}}, *unit = &units[0];
static const char *language = "en";
static volatile sig_atomic_t quit;
static int journal = -1, owner, *undo, undone, capacity;
static char title[32], motto[32];
static FILE *record;
static long raised;

static int upwards(int a, int b) { return a < b; }
static int downwards(int a, int b) { return a > b; }
static int (*order)(int, int) = upwards;

static void stop(int number) { quit = number; }
static int opened(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
  return fd;
}
static void add(int value) {
  struct entry *made = malloc(sizeof *made), **at = &first;
  while (*at && order((*at)->value, value))
    at = &(*at)->next;
  *made = (struct entry){*at, value};
  *at = made;
}
static void load(void) {
  FILE *f = fopen("entries", "r");
  int value;
  signal(SIGTERM, stop);
  journal = opened("journal");
  owner = getpid();
  unit = &units[1];
  language = "de";
  order = downwards;
  while (f && fscanf(f, "%d", &value) == 1)
    add(value);
}
static void save(void) {
  FILE *f = fopen("entries", "w");
  for (struct entry *at = first; at; at = at->next)
    fprintf(f, "%d\n", at->value);
  fclose(f);
}
static void drop(void) {
  if (undone == capacity)
    undo = realloc(undo, (capacity = 2 * capacity + 8) * sizeof *undo);
  undo[undone++] = first->value;
  first = first->next;
}
static void raise_first(void) {
  first->value++;
  fprintf(record, "raised %ld times\n", ++raised);
}
int main(void) {
  char line[64];
  record = fopen("record", "a");
  load();
  while (!quit && fgets(line, sizeof line, stdin)) {
    if (line[0] == 'a')
      add(atoi(line + 1));
    else if (line[0] == 'd' && first)
      drop();
    else if (line[0] == 'u' && undone)
      add(undo[--undone]);
    else if (line[0] == 'r' && first)
      raise_first();
    else if (line[0] == 't')
      strcpy(title, line + 1);
    else if (line[0] == 'm')
      snprintf(motto, sizeof motto, "%s", line + 1);
    else
      printf("%s%s%s%s%d\n", title, motto, language, unit->name, first ? first->value : owner);
    write(journal, line, strlen(line));
    fflush(stdout);
  }
  save();
}
