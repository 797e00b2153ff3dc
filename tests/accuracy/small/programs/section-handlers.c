// A table of tables: sections, and keys in each.
// load: load_settings
// must: account rule
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct account { char *user, *server; struct account *next; };
struct rule { char *pattern; int action; struct rule *next; };
static struct account *accounts;
static struct rule *rules;
static void set_user(const char *v) {
  struct account *a = calloc(1, sizeof *a);
  a->user = strdup(v);
  a->next = accounts;
  accounts = a;
}
static void set_server(const char *v) { if (accounts) accounts->server = strdup(v); }
static void set_pattern(const char *v) {
  struct rule *r = calloc(1, sizeof *r);
  r->pattern = strdup(v);
  r->next = rules;
  rules = r;
}
static void set_action(const char *v) { if (rules) rules->action = atoi(v); }
struct key { const char *name; void (*set)(const char *); };
struct section { const char *name; const struct key *keys; };
static const struct key account_keys[] = {{"user", set_user}, {"server", set_server}, {0, 0}};
static const struct key rule_keys[] = {{"pattern", set_pattern}, {"action", set_action}, {0, 0}};
static const struct section sections[] = {{"account", account_keys}, {"rule", rule_keys}, {0, 0}};
int load_settings(FILE *f) {
  const struct section *in = NULL;
  char line[200], key[50], value[100];
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "[%49[a-z]]", key) == 1) {
      for (in = sections; in->name && strcmp(in->name, key); in++)
        ;
      continue;
    }
    if (!in || !in->name || sscanf(line, "%49[a-z] = %99s", key, value) != 2)
      continue;
    for (const struct key *k = in->keys; k->name; k++)
      if (!strcmp(k->name, key))
        k->set(value);
  }
  return 0;
}
