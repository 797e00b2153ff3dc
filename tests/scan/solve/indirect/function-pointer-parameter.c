// A generic walker over the file calls the function that it is given with each record.
// Function pointers passed as parameters (foreach); own callbacks.
// Wrong: 'contact' missed; 'count' (given by a caller outside of the load) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int visitor(const char *line, void *data);
static int forEachLine(const char *path, visitor *visit, void *data) {
  char line[200];
  int result = 0;
  FILE *f = fopen(path, "r");
  while (!result && fgets(line, sizeof line, f))
    result = visit(line, data);
  fclose(f);
  return result;
}

struct contact { // CHECK: contact [[@LINE]]
  char *name;
  struct contact *next;
};
struct count {
  int lines;
};
static struct contact *contacts;
static struct count *counted;

static int addContact(const char *line, void *data) {
  struct contact **list = data, *c = malloc(sizeof *c);
  c->name = strdup(line);
  c->next = *list;
  *list = c;
  return 0;
}
static int countLine(const char *line, void *data) {
  if (!counted)
    counted = calloc(1, sizeof *counted);
  counted->lines += *line != '#';
  return data != NULL;
}
int countLines(const char *path) { return forEachLine(path, countLine, NULL); }

int load(const char *path) { return forEachLine(path, addContact, &contacts); }
