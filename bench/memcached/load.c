/* load.c: clients of memcached, for measuring it.
 *
 * usage: load PORT CLIENTS DEPTH REQUESTS KEYS BYTES GETS SEED
 *
 * One thread drives CLIENTS connections by epoll. Each sends DEPTH requests at once, waits for all
 * answers and sends the next. A request is, for GETS in a hundred, a get of one of KEYS keys at
 * random, else a set of a value of BYTES bytes. GETS -1 sets each key once, in order, without
 * answers but for the last of a batch. Prints the requests a second. What a server answers is
 * counted, not compared.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MAX = 1024, INPUT = 1 << 16, TAIL = 5 };

struct client {
  int socket;
  unsigned waits;  /* answers that are missing */
  char tail[TAIL]; /* the last bytes that came */
};

static struct client clients[CLIENTS_MAX];
static unsigned depth, bytes;
static uint64_t keys, next_key, seed;
static int gets;
static char *output;

static _Noreturn void die(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t dice(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t add_set(char *at, uint64_t key, const char *silent) {
  size_t length = (size_t)sprintf(at, "set key:%010lu 0 0 %u%s\r\n", key, bytes, silent);
  memset(at + length, 'a' + (int)(key % 26), bytes);
  memcpy(at + length + bytes, "\r\n", 2);
  return length + bytes + 2;
}

static void send_all(int socket, const char *from, size_t size) {
  while (size) {
    ssize_t sent = send(socket, from, size, 0);
    if (sent < 0)
      die("send");
    from += sent;
    size -= (size_t)sent;
  }
}

/* The requests of one turn. */
static unsigned ask(struct client *client, uint64_t left) {
  unsigned count = left < depth ? (unsigned)left : depth;
  size_t size = 0;
  for (unsigned i = 0; i < count; i++) {
    bool last = i + 1 == count;
    if (gets < 0)
      size += add_set(output + size, next_key++, last ? "" : " noreply");
    else if (dice() % 100 < (unsigned)gets)
      size += (size_t)sprintf(output + size, "get key:%010lu\r\n", dice() % keys);
    else
      size += add_set(output + size, dice() % keys, "");
  }
  client->waits = gets < 0 ? 1 : count;
  send_all(client->socket, output, size);
  return count;
}

/* Answers end with STORED or END; values are letters of one kind, so neither is in them. */
static void take(struct client *client) {
  static char input[TAIL + INPUT];
  memcpy(input, client->tail, TAIL);
  ssize_t got = recv(client->socket, input + TAIL, INPUT, 0);
  if (got <= 0)
    die("recv");
  const char *end = input + TAIL + got;
  for (const char *at = input; (at = memchr(at, 'D', (size_t)(end - at))); at++)
    if (end - at >= 3 && at[1] == '\r' && at[2] == '\n' && at + 3 > input + TAIL) {
      if (!client->waits--)
        die("more answers than requests");
    }
  memcpy(client->tail, end - TAIL, TAIL);
}

static int connected(uint16_t port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int made = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  if (made < 0 || connect(made, (struct sockaddr *)&to, sizeof to))
    die("connect");
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return made;
}

int main(int count, char **each) {
  if (count != 9)
    return 2;
  unsigned number = (unsigned)atoi(each[2]);
  uint64_t left = strtoull(each[4], NULL, 10), open = 0, requests = left;
  depth = (unsigned)atoi(each[3]);
  keys = strtoull(each[5], NULL, 10);
  bytes = (unsigned)atoi(each[6]);
  gets = atoi(each[7]);
  seed = strtoull(each[8], NULL, 10) * 0x9e3779b97f4a7c15 + 1;
  output = malloc((size_t)depth * (bytes + 64));
  if (!output || !number || number > CLIENTS_MAX)
    return 2;
  int poll = epoll_create1(0);
  for (unsigned i = 0; i < number; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    clients[i].socket = connected((uint16_t)atoi(each[1]));
    epoll_ctl(poll, EPOLL_CTL_ADD, clients[i].socket, &event);
  }
  double begun = now();
  for (unsigned i = 0; i < number && left; i++, open++)
    left -= ask(&clients[i], left);
  while (open) {
    struct epoll_event events[64];
    int ready = epoll_wait(poll, events, 64, -1);
    for (int i = 0; i < ready; i++) {
      struct client *client = &clients[events[i].data.u32];
      take(client);
      if (client->waits)
        continue;
      if (left)
        left -= ask(client, left);
      else
        open--;
    }
  }
  printf("%.0f\n", (double)requests / (now() - begun));
  return 0;
}
