#ifndef KV_H
#define KV_H
#include <stddef.h>
struct ent {
  char *key;
  char *val;
  size_t vlen;
  unsigned hash;
  struct ent *next;
};
struct dict {
  struct ent **tab;
  size_t size, used;
};
struct server {
  int running;
  struct dict *db;
  struct {
    long sets, gets;
  } stat;
  char *path;
  unsigned long next_id;
};
extern struct server server;
void *xmalloc(size_t);
void *xcalloc(size_t, size_t);
char *xstrdup(const char *);
struct dict *dict_new(void);
void dict_put(struct dict *, const char *, const char *);
struct ent *dict_get(struct dict *, const char *);
int dict_del(struct dict *, const char *);
int kv_load(const char *);
int kv_save(const char *);
#endif
