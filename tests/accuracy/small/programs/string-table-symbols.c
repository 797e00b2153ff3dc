// Symbols hold offsets into one block of strings; both grow.
// load: symtab_read
// must: sym
// either: symtab
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct sym { uint32_t name; uint32_t value; uint16_t section, binding; };
struct symtab { struct sym *syms; size_t nsyms; char *strings; size_t len, cap; };
static struct symtab tab;
static uint32_t intern(struct symtab *t, const char *s) {
  size_t need = strlen(s) + 1;
  for (size_t at = 0; at < t->len; at += strlen(t->strings + at) + 1)
    if (!strcmp(t->strings + at, s))
      return (uint32_t)at;
  if (t->len + need > t->cap) {
    t->cap = (t->len + need) * 2;
    t->strings = realloc(t->strings, t->cap);
  }
  memcpy(t->strings + t->len, s, need);
  t->len += need;
  return (uint32_t)(t->len - need);
}
int symtab_read(FILE *nm) {
  char type, name[128];
  unsigned long value;
  while (fscanf(nm, "%lx %c %127s", &value, &type, name) == 3) {
    if (tab.nsyms % 64 == 0)
      tab.syms = realloc(tab.syms, (tab.nsyms + 64) * sizeof(struct sym));
    struct sym *s = &tab.syms[tab.nsyms++];
    *s = (struct sym){.name = intern(&tab, name), .value = (uint32_t)value, .binding = type == 'T'};
  }
  return ferror(nm) ? -1 : 0;
}
