// Names are interned; records point to the one copy.
// load: load_symbols
// must: atom symbol
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct atom { struct atom *chain; unsigned len; char text[1]; };
struct symbol { const struct atom *name; unsigned long address; };
static struct atom *atoms[256];
static struct symbol *symbols;
static unsigned n_symbols;
static const struct atom *intern(const char *s) {
  unsigned h = (unsigned char)s[0];
  for (struct atom *a = atoms[h]; a; a = a->chain)
    if (!strcmp(a->text, s))
      return a;
  struct atom *a = malloc(sizeof *a + strlen(s));
  a->len = strlen(s);
  memcpy(a->text, s, a->len + 1);
  a->chain = atoms[h];
  return atoms[h] = a;
}
int load_symbols(const char *map) {
  FILE *f = fopen(map, "r");
  char name[128];
  unsigned long addr;
  while (f && fscanf(f, "%lx %127s", &addr, name) == 2) {
    symbols = realloc(symbols, sizeof(struct symbol) * (n_symbols + 1));
    symbols[n_symbols].name = intern(name);
    symbols[n_symbols++].address = addr;
  }
  return f ? fclose(f) : -1;
}
