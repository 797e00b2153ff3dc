// A hash table that grows, made before the load, behind a member of a large variable.
//
// load: kv_load
// save: kv_save
// command: set a 1
// command: new x
// command: set b 2
// command: new y
// command: del a
// command: set c 3
// command: new z
// ask: count
// ask: get a
// ask: get b
// ask: get c
// ask: get id1
// ask: get id2
// ask: get id3
#include "kv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct server server;
static void reply(const char *fmt, const char *a) {
  printf(fmt, a);
  fputc('\n', stdout);
  fflush(stdout);
}
int kv_load(const char *path) {
  FILE *f = fopen(path, "r");
  char k[256], v[256];
  if (!f)
    return -1;
  if (fscanf(f, "%lu", &server.next_id) == 1)
    while (fscanf(f, "%255s %255s", k, v) == 2)
      dict_put(server.db, k, v);
  fclose(f);
  return 0;
}
int kv_save(const char *path) {
  FILE *f = fopen(path, "w");
  if (!f)
    return -1;
  fprintf(f, "%lu\n", server.next_id);
  for (size_t i = 0; i < server.db->size; i++)
    for (struct ent *e = server.db->tab[i]; e; e = e->next)
      fprintf(f, "%s %s\n", e->key, e->val);
  return fclose(f);
}
static void cmd_set(int argc, char **argv) {
  if (argc < 3) {
    reply("ERR args", 0);
    return;
  }
  dict_put(server.db, argv[1], argv[2]);
  server.stat.sets++;
  reply("OK", 0);
}
static void cmd_get(int argc, char **argv) {
  struct ent *e = argc > 1 ? dict_get(server.db, argv[1]) : NULL;
  server.stat.gets++;
  reply("%s", e ? e->val : "(nil)");
}
static void cmd_del(int argc, char **argv) {
  reply("%s", argc > 1 && dict_del(server.db, argv[1]) ? "1" : "0");
}
static void cmd_new(int argc, char **argv) {
  char b[40];
  (void)argc;
  snprintf(b, sizeof b, "id%lu", ++server.next_id);
  dict_put(server.db, b, argc > 1 ? argv[1] : "-");
  reply("%s", b);
}
static void cmd_count(int argc, char **argv) {
  char b[40];
  (void)argc;
  (void)argv;
  snprintf(b, sizeof b, "%zu", server.db->used);
  reply("%s", b);
}
static void cmd_quit(int argc, char **argv) {
  (void)argc;
  (void)argv;
  server.running = 0;
  reply("bye", 0);
}
static const struct {
  const char *name;
  void (*fn)(int, char **);
} table[] = {{"set", cmd_set}, {"get", cmd_get},     {"del", cmd_del},
             {"new", cmd_new}, {"count", cmd_count}, {"quit", cmd_quit}};
int main(int argc, char **argv) {
  char line[1024];
  server.path = xstrdup(argc > 1 ? argv[1] : "kv.txt");
  server.db = dict_new();
  server.running = 1;
  if (kv_load(server.path) < 0)
    fprintf(stderr, "starting empty\n");
  while (server.running && fgets(line, sizeof line, stdin)) {
    char *av[8];
    int ac = 0;
    for (char *t = strtok(line, " \n"); t && ac < 8; t = strtok(NULL, " \n"))
      av[ac++] = t;
    if (!ac)
      continue;
    size_t i;
    for (i = 0; i < sizeof table / sizeof *table; i++)
      if (!strcmp(table[i].name, av[0])) {
        table[i].fn(ac, av);
        break;
      }
    if (i == sizeof table / sizeof *table)
      reply("ERR unknown", 0);
  }
  kv_save(server.path);
  return 0;
}
