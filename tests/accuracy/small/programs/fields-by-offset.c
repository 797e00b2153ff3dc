// Options are described by tables of names, kinds and offsets; values go through char pointers.
// load: conf_load
// must: vhost
// either: conf
// never: opt
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct vhost { char *name, *root; int port; struct vhost *next; };
struct conf { char *user, *pidfile; int workers, timeout; struct vhost *vhosts; };
enum kind { STR, INT };
struct opt { const char *name; enum kind kind; size_t off; };
static const struct opt main_opts[] = {{"user", STR, offsetof(struct conf, user)},
                                       {"pid", STR, offsetof(struct conf, pidfile)},
                                       {"workers", INT, offsetof(struct conf, workers)},
                                       {"timeout", INT, offsetof(struct conf, timeout)},
                                       {NULL, STR, 0}};
static const struct opt vhost_opts[] = {{"root", STR, offsetof(struct vhost, root)},
                                        {"port", INT, offsetof(struct vhost, port)},
                                        {NULL, STR, 0}};
static struct conf conf;
static int set(const struct opt *o, void *base, const char *key, const char *val) {
  for (; o->name; o++)
    if (!strcmp(o->name, key)) {
      char *at = (char *)base + o->off;
      if (o->kind == INT)
        *(int *)at = atoi(val);
      else {
        free(*(char **)at);
        *(char **)at = strdup(val);
      }
      return 0;
    }
  return -1;
}
int conf_load(const char *path) {
  char line[256], key[64], val[128];
  struct vhost *vh = NULL;
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "vhost %127s", val) == 1) {
      vh = calloc(1, sizeof *vh);
      vh->name = strdup(val);
      vh->next = conf.vhosts;
      conf.vhosts = vh;
    } else if (sscanf(line, "%63s %127s", key, val) == 2)
      set(vh ? vhost_opts : main_opts, vh ? (void *)vh : (void *)&conf, key, val);
  }
  fclose(f);
  return 0;
}
