// A parser that keeps its file in a global is given no input in any call: who reads through the
// global is at the input, however many calls the parser is deep.
// Wrong: 'property' missed, or both.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct property { // CHECK: property [[@LINE]]
  struct property *next;
  char *value;
};
struct node { // CHECK: node [[@LINE]]
  struct property *properties;
  struct node *child;
};

static FILE *file;
static int token;
struct node *tree;

static void next(void) { token = getc(file); }

static void match(int expected) {
  if (token == expected)
    next();
}

static void value(char *buffer) {
  match('[');
  while (token != ']') {
    *buffer++ = (char)token;
    next();
  }
  *buffer = 0;
}

static struct property *make(struct node *of, const char *text) {
  struct property *p = malloc(sizeof(struct property));
  p->value = malloc(strlen(text) + 1);
  strcpy(p->value, text);
  p->next = of->properties;
  of->properties = p;
  return p;
}

static struct property *decide(struct node *of, const char *text) { return make(of, text); }

static void properly(struct node *of) {
  char buffer[100];
  value(buffer);
  decide(of, buffer);
}

static void known(struct node *of) { properly(of); }
static void property(struct node *of) { known(of); }

static void properties(struct node *of) {
  while (token == '[')
    property(of);
}

static void sequence(struct node *head) {
  properties(head);
  while (token == ';') {
    struct node *made = calloc(1, sizeof(struct node));
    head->child = made;
    head = made;
    properties(head);
  }
}

static void parse(struct node **to) {
  struct node *head = calloc(1, sizeof(struct node));
  *to = head;
  sequence(head);
}

void load(const char *path) {
  struct node *root;
  file = fopen(path, "r");
  next();
  parse(&root);
  fclose(file);
  tree = root;
}
