// A helper goes through the lines of a file and calls back with a context on the stack.
// load: load_hosts
// must: host alias
// never: load_ctx
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct alias { char *name; struct alias *next; };
struct host { unsigned char addr[4]; char *name; struct alias *aliases; struct host *next; };
struct load_ctx { struct host **tail; int line, errors; };
static struct host *hosts;
static int for_each_line(const char *path, int (*fn)(char *, void *), void *arg) {
  char *line = NULL;
  size_t cap = 0;
  int rc = 0;
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  while (rc == 0 && getline(&line, &cap, f) >= 0)
    rc = fn(line, arg);
  free(line);
  fclose(f);
  return rc;
}
static int host_line(char *line, void *arg) {
  struct load_ctx *ctx = arg;
  unsigned a, b, c, d;
  int used;
  char *hash = strchr(line, '#');
  ctx->line++;
  if (hash)
    *hash = 0;
  if (sscanf(line, "%u.%u.%u.%u%n", &a, &b, &c, &d, &used) != 4) {
    ctx->errors++;
    return 0;
  }
  struct host *h = calloc(1, sizeof *h);
  h->addr[0] = a, h->addr[1] = b, h->addr[2] = c, h->addr[3] = d;
  for (char *word = strtok(line + used, " \t\n"); word; word = strtok(NULL, " \t\n")) {
    if (!h->name) {
      h->name = strdup(word);
      continue;
    }
    struct alias *al = malloc(sizeof *al);
    al->name = strdup(word);
    al->next = h->aliases;
    h->aliases = al;
  }
  *ctx->tail = h;
  ctx->tail = &h->next;
  return 0;
}
int load_hosts(void) {
  struct load_ctx ctx = {&hosts, 0, 0};
  for_each_line("/etc/hosts", host_line, &ctx);
  if (ctx.errors)
    fprintf(stderr, "%d bad lines of %d\n", ctx.errors, ctx.line);
  return ctx.errors;
}
