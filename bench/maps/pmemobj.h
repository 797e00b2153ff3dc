/* pmemobj.h: what the two hand-made ports to libpmemobj share. */
#pragma once

#include <libpmemobj.h>
#include <stdio.h>
#include <stdlib.h>

static PMEMobjpool *pool;

static inline void memory_make(const char *path, size_t bytes) {
  int prefault = 1;
  pmemobj_ctl_set(NULL, "prefault.at_create", &prefault);
  pool = pmemobj_create(path, "bench", bytes, 0600);
  if (!pool) {
    fprintf(stderr, "%s\n", pmemobj_errormsg());
    exit(1);
  }
}

/* About to be changed: libpmemobj's undo log takes the old bytes. */
#define LOG(lvalue) pmemobj_tx_add_range_direct(&(lvalue), sizeof(lvalue))
