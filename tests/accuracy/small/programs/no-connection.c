// The file comes over a socket; the connection is machinery.
// load: fetch_zone
// must: rr
// never: conn
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
struct conn { int fd; char in[512]; int have; struct conn *next; };
struct rr { char name[100]; unsigned ttl; struct rr *next; };
static struct conn *conns;
static struct rr *zone;
static struct conn *dial(const char *host) {
  struct addrinfo *ai;
  if (getaddrinfo(host, "53", NULL, &ai))
    return NULL;
  struct conn *c = calloc(1, sizeof *c);
  c->fd = socket(ai->ai_family, SOCK_STREAM, 0);
  connect(c->fd, ai->ai_addr, ai->ai_addrlen);
  freeaddrinfo(ai);
  c->next = conns;
  return conns = c;
}
int fetch_zone(const char *host) {
  struct conn *c = dial(host);
  if (!c)
    return -1;
  while ((c->have = recv(c->fd, c->in, sizeof c->in - 1, 0)) > 0) {
    struct rr *r = calloc(1, sizeof *r);
    c->in[c->have] = 0;
    sscanf(c->in, "%99s %u", r->name, &r->ttl);
    r->next = zone;
    zone = r;
  }
  close(c->fd);
  return 0;
}
