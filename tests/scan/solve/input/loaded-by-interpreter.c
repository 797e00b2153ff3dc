// The file holds commands; they are evaluated by the interpreter that also serves the user.
// FINDINGS, open: "a load path that evaluates loaded text through an interpreter".
// Wrong: 'variable' missed (set through a table, from words of the input); 'call' (frames) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct variable { // CHECK: variable [[@LINE]]
  char *name, *value;
  struct variable *next;
};
struct call {
  int words;
  char *word[16];
  struct call *outer;
};
struct interpreter { // either
  struct variable *variables;
  struct call *frame;
  int depth;
};
static struct interpreter *shell;

typedef int builtin(struct interpreter *i, int words, char **word);
static int set(struct interpreter *i, int words, char **word) {
  struct variable *v = malloc(sizeof *v);
  v->name = strdup(word[1]);
  v->value = strdup(words > 2 ? word[2] : "");
  v->next = i->variables;
  i->variables = v;
  return 0;
}
static int echo(struct interpreter *i, int words, char **word) {
  (void)i;
  while (--words)
    puts(*++word);
  return 0;
}
static const struct {
  const char *name;
  builtin *run;
} builtins[] = {{"set", set}, {"echo", echo}};

static int evaluate(struct interpreter *i, char *text) {
  struct call *c = calloc(1, sizeof *c);
  char *word;
  unsigned b;
  int result = -1;
  c->outer = i->frame;
  i->frame = c;
  for (word = strtok(text, " \n"); word && c->words < 16; word = strtok(NULL, " \n"))
    c->word[c->words++] = word;
  for (b = 0; c->words && b < sizeof builtins / sizeof *builtins; ++b)
    if (!strcmp(builtins[b].name, c->word[0]))
      result = builtins[b].run(i, c->words, c->word);
  i->frame = c->outer;
  free(c);
  return result;
}

int load(const char *path) {
  char line[256];
  FILE *f = fopen(path, "r");
  shell = calloc(1, sizeof *shell);
  while (fgets(line, sizeof line, f))
    evaluate(shell, line);
  fclose(f);
  return 0;
}
