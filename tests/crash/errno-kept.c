// The functions that --nvmove-trace puts in front of the C library's leave errno as that does.
// RUN: %cc -O1 %s -o %t && %t %pool
// RUN: rm -f %pool && %crash -- %t %pool
#include "nvmove/nvmove.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  char memory[8];
  FILE *temporary = tmpfile(), *in_memory = fmemopen(memory, sizeof memory, "w");
  errno = 0;
  fflush(stdout);
  fputs("x", temporary);
  fflush(temporary);
  fputs("x", in_memory);
  fclose(in_memory);
  fclose(temporary);
  close(open("/dev/null", O_RDWR));
  if (errno || close(-1) == 0 || errno != EBADF)
    return 2;
  return argc != 2 || nvm_pool_close(pool);
}
