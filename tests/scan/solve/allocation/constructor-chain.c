// A tree is made where the first entry is put in, by constructors given a hook and no input. Calls
// without contact to the input count twice, but for those that only make something.
// Wrong: 'tree' missed, which is made four calls from the reader.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree { // CHECK: tree [[@LINE]]
  void (*fold)(char *key);
  char *name;
  char last[32];
};
struct account { // CHECK: account [[@LINE]]
  char name[32];
  struct tree *properties;
  struct account *next;
};
static struct account *accounts;

static void *allocateChecked(size_t count, size_t size) {
  void *made = calloc(count, size);
  if (!made)
    abort();
  return made;
}
static struct tree *treeMake(int flags, void (*fold)(char *key)) {
  struct tree *t = allocateChecked(1, sizeof *t);
  t->fold = flags ? fold : NULL;
  return t;
}
static struct tree *treeNamed(const char *name, void (*fold)(char *key)) {
  struct tree *t = treeMake(1, fold);
  if (name)
    t->name = strdup(name);
  return t;
}
static struct tree *treeCreate(void (*fold)(char *key)) { return treeNamed(NULL, fold); }

static void lower(char *key) {
  for (; *key; ++key)
    *key |= 32;
}
static void setProperty(struct account *a, const char *value) {
  if (!a->properties)
    a->properties = treeCreate(lower);
  strcpy(a->properties->last, value);
}

int load(FILE *f) {
  char line[32];
  while (fgets(line, sizeof line, f)) {
    struct account *a = calloc(1, sizeof *a);
    strcpy(a->name, line);
    setProperty(a, line);
    a->next = accounts;
    accounts = a;
  }
  return 0;
}
