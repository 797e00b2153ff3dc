// libpmem2: its functions are called through pointers; one of them too late.
// RUN: %raw %s -- -lpmem2
#include "raw.h"

#include <libpmem2.h>

struct file {
  _Alignas(64) long data;
  _Alignas(64) long valid;
};

int main(int argc, char **argv) {
  struct pmem2_config *config;
  struct pmem2_source *source;
  struct pmem2_map *map;
  int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
  if (fd < 0 || (argc <= 2 && ftruncate(fd, 4096)) || pmem2_config_new(&config) ||
      pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_PAGE) ||
      pmem2_source_from_fd(&source, fd) || pmem2_map_new(&map, config, source))
    return wrong("no mapping", 0);
  struct file *f = pmem2_map_get_address(map);
  pmem2_persist_fn persisting = pmem2_get_persist_fn(map);
  if (argc > 2)
    return f->valid && f->data != 5 ? wrong("data", f->data) : 0;
  f->data = 5; // FOUND: checker
#ifdef BUG
  f->valid = 1;
  persisting(&f->data, sizeof f->data);
#else
  persisting(&f->data, sizeof f->data);
  f->valid = 1;
#endif
  persisting(&f->valid, sizeof f->valid);
  pmem2_map_delete(&map);
  return 0;
}
