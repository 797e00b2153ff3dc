// libpmem: a copy that is not drained before the flag.
// RUN: %raw %s -- -lpmem
#include "raw.h"

#include <libpmem.h>

struct file {
  char text[256];
  long valid;
};

int main(int argc, char **argv) {
  size_t length;
  int is_pmem;
  bool checks = argc > 2;
  struct file *f = pmem_map_file(argv[1], checks ? 0 : sizeof *f, checks ? 0 : PMEM_FILE_CREATE, 0666, &length, &is_pmem);
  if (!f)
    return wrong("no mapping", 0);
  if (checks)
    return f->valid < acked(argv)                   ? wrong("lost:", acked(argv))
           : f->valid && strlen(f->text) != 200 ? wrong("length", (long)strlen(f->text))
                                                    : 0;
  char text[201] = {0};
  memset(text, 'x', 200);
#ifdef BUG
  pmem_memcpy_nodrain(f->text, text, sizeof text); // FOUND: checker
#else
  pmem_memcpy_persist(f->text, text, sizeof text);
#endif
  f->valid = 1;
  pmem_persist(&f->valid, sizeof f->valid);
  acknowledge(1);
  pmem_memset_persist(&f->text[201], 'y', 20);
  pmem_unmap(f, length);
  return 0;
}
