// load: load
// save: save
// file: book.txt
// data: ann 1
// data: bob 2
// command: set carl 3
// command: set ann 10
// command: get ann
// command: set dora 4
// ask: get ann
// ask: get bob
// ask: get carl
// ask: get dora
/* book.c: a telephone book. It reads commands from its standard input:
 *
 *     set NAME NUMBER
 *     get NAME
 *
 * It keeps its entries in memory, reads them from book.txt at the start, and writes them there at
 * the end of its input. A process that is killed has written nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS = 64 };

struct entry {
  struct entry *next;
  char *name, *number;
};

static struct {
  struct entry *lists[LISTS];
  unsigned long entries;
} book;

static struct entry **list_of(const char *name) {
  unsigned hash = 5381;
  for (; *name; name++)
    hash = hash * 33 + (unsigned char)*name;
  return &book.lists[hash % LISTS];
}

static struct entry *find(const char *name) {
  struct entry *entry = *list_of(name);
  while (entry && strcmp(entry->name, name))
    entry = entry->next;
  return entry;
}

static void set(const char *name, const char *number) {
  struct entry *entry = find(name);
  if (!entry) {
    entry = malloc(sizeof *entry);
    entry->name = strdup(name);
    entry->number = NULL;
    entry->next = *list_of(name);
    *list_of(name) = entry;
    book.entries++;
  }
  free(entry->number);
  entry->number = strdup(number);
}

static void load(void) {
  char name[64], number[64];
  FILE *file = fopen("book.txt", "r");
  while (file && fscanf(file, "%63s %63s", name, number) == 2)
    set(name, number);
  if (file)
    fclose(file);
}

static void save(void) {
  FILE *file = fopen("book.txt", "w");
  for (int i = 0; file && i < LISTS; i++)
    for (struct entry *entry = book.lists[i]; entry; entry = entry->next)
      fprintf(file, "%s %s\n", entry->name, entry->number);
  if (file)
    fclose(file);
}

static void answer(const char *text) {
  puts(text);
  fflush(stdout);
}

int main(void) {
  char line[256], name[64], number[64];
  load();
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "set %63s %63s", name, number) == 2) {
      set(name, number);
      answer("ok");
    } else if (sscanf(line, "get %63s", name) == 1) {
      answer(find(name) ? find(name)->number : "not in the book");
    } else {
      answer("say: set NAME NUMBER, or: get NAME");
    }
  }
  save();
  return 0;
}
