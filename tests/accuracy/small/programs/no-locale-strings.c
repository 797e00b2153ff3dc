// Messages come from another file, opened by a helper on the way; the load is of the save file.
// load: game_restore
// must: hero item
// never: message
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { int kind, charges; struct item *next; };
struct hero { char name[16]; int hp, gold; struct item *pack; };
struct message { int id; char *text; struct message *next; };
static struct hero *you;
static struct message *messages;
static const char *say(int id) {
  if (!messages) {
    char line[128];
    FILE *m = fopen("messages.en", "r");
    while (m && fgets(line, sizeof line, m)) {
      struct message *x = malloc(sizeof *x);
      x->id = atoi(line);
      x->text = strdup(strchr(line, ' ') ? strchr(line, ' ') + 1 : "");
      x->next = messages;
      messages = x;
    }
    if (m)
      fclose(m);
  }
  for (struct message *x = messages; x; x = x->next)
    if (x->id == id)
      return x->text;
  return "?";
}
static struct item *item_read(FILE *f) {
  struct item *i = malloc(sizeof *i);
  if (fscanf(f, "%d %d", &i->kind, &i->charges) != 2) {
    free(i);
    return NULL;
  }
  return i;
}
int game_restore(const char *save) {
  FILE *f = fopen(save, "r");
  struct item *i;
  if (!f) {
    puts(say(1));
    return -1;
  }
  you = calloc(1, sizeof *you);
  if (fscanf(f, "%15s %d %d", you->name, &you->hp, &you->gold) != 3) {
    puts(say(2));
    fclose(f);
    return -1;
  }
  while ((i = item_read(f))) {
    i->next = you->pack;
    you->pack = i;
  }
  printf(say(3), you->name);
  fclose(f);
  return 0;
}
