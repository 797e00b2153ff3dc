// A replica receives the state from a peer: length-prefixed messages over a socket.
// load: replica_sync
// must: entry
// never: msg peer
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
struct entry { char *key; uint32_t klen, vlen; unsigned char *val; struct entry *chain; };
struct peer { int fd; uint64_t received; };
struct msg { uint32_t op, klen, vlen; };
#define BUCKETS 1024
static struct entry *db[BUCKETS];
static int recv_all(struct peer *p, void *to, size_t n) {
  char *at = to;
  while (n) {
    ssize_t got = recv(p->fd, at, n, 0);
    if (got <= 0)
      return -1;
    at += got;
    n -= got;
    p->received += got;
  }
  return 0;
}
static void put(char *key, uint32_t klen, unsigned char *val, uint32_t vlen) {
  uint32_t h = 0;
  for (uint32_t i = 0; i < klen; i++)
    h = h * 31 + (unsigned char)key[i];
  struct entry *e;
  for (e = db[h % BUCKETS]; e; e = e->chain)
    if (e->klen == klen && !memcmp(e->key, key, klen)) {
      free(e->val);
      free(key);
      e->val = val;
      e->vlen = vlen;
      return;
    }
  e = malloc(sizeof *e);
  e->key = key;
  e->klen = klen;
  e->val = val;
  e->vlen = vlen;
  e->chain = db[h % BUCKETS];
  db[h % BUCKETS] = e;
}
int replica_sync(const struct sockaddr *addr, socklen_t len) {
  struct peer p = {socket(addr->sa_family, SOCK_STREAM, 0), 0};
  struct msg m;
  if (p.fd < 0 || connect(p.fd, addr, len) < 0)
    return -1;
  while (!recv_all(&p, &m, sizeof m) && ntohl(m.op) == 1) {
    uint32_t klen = ntohl(m.klen), vlen = ntohl(m.vlen);
    char *key = malloc(klen + 1);
    unsigned char *val = malloc(vlen + 1);
    if (recv_all(&p, key, klen) || recv_all(&p, val, vlen)) {
      free(key);
      free(val);
      break;
    }
    put(key, klen, val, vlen);
  }
  close(p.fd);
  return 0;
}
