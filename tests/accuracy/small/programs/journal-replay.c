// A journal of operations is replayed: puts and deletes on a sorted list, by a table of operations.
// load: journal_replay
// must: kv
// never: rec_head
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct kv { struct kv *next; uint32_t klen, vlen; char data[]; };
struct rec_head { uint8_t op; uint8_t pad[3]; uint32_t klen, vlen; };
static struct kv *store;
static struct kv **find(const char *key, uint32_t klen) {
  struct kv **at = &store;
  while (*at && ((*at)->klen != klen || memcmp((*at)->data, key, klen)))
    at = &(*at)->next;
  return at;
}
static void op_put(const char *body, uint32_t klen, uint32_t vlen) {
  struct kv **at = find(body, klen), *kv = malloc(sizeof *kv + klen + vlen);
  kv->klen = klen;
  kv->vlen = vlen;
  memcpy(kv->data, body, klen + vlen);
  kv->next = *at ? (*at)->next : NULL;
  free(*at);
  *at = kv;
}
static void op_delete(const char *body, uint32_t klen, uint32_t vlen) {
  struct kv **at = find(body, klen), *kv = *at;
  (void)vlen;
  if (kv) {
    *at = kv->next;
    free(kv);
  }
}
static void (*const ops[])(const char *, uint32_t, uint32_t) = {op_put, op_delete};
long journal_replay(const char *path) {
  struct rec_head h;
  long n = 0;
  FILE *j = fopen(path, "rb");
  if (!j)
    return -1;
  while (fread(&h, sizeof h, 1, j) == 1 && h.op < 2) {
    char *body = malloc(h.klen + h.vlen);
    if (fread(body, 1, h.klen + h.vlen, j) != h.klen + h.vlen) {
      free(body);
      break;
    }
    ops[h.op](body, h.klen, h.vlen);
    free(body);
    n++;
  }
  fclose(j);
  return n;
}
