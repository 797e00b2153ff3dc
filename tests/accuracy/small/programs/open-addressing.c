// One block of slots, probed linearly.
// load: hs_load
// must: slot hset
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct slot { uint64_t key; uint32_t state, refs; };
struct hset { struct slot *slots; uint32_t mask, live; };
static void put(struct hset *h, uint64_t key) {
  uint32_t i = (uint32_t)(key * 0x9E3779B97F4A7C15u >> 32) & h->mask;
  while (h->slots[i].state)
    i = (i + 1) & h->mask;
  h->slots[i] = (struct slot){.key = key, .state = 1};
  h->live++;
}
struct hset *hs_load(int fd) {
  uint64_t keys[128];
  ssize_t n;
  struct hset *h = calloc(1, sizeof *h);
  h->mask = 0xffff;
  h->slots = calloc(h->mask + 1, sizeof *h->slots);
  while ((n = read(fd, keys, sizeof keys)) > 0)
    for (ssize_t i = 0; i < n / 8; i++)
      put(h, keys[i]);
  return h;
}
