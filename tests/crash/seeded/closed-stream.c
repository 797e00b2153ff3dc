// What waits in the buffer of a stream leaves when that is closed.
// RUN: rm -rf %t && mkdir %t && cd %t && %seeded %s
#define _GNU_SOURCE
#include "seeded.h"

#include <sys/socket.h>
#include <unistd.h>

struct counter {
  long value;
};

int main(int argc, char **argv) {
  struct counter *c = CREATE(argv, struct counter);
  int ends[2], to[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, to))
    return 1;
  FILE *peer = fdopen(ends[0], "w"), *other = fdopen(to[1], "w"), *idle = fdopen(dup(to[1]), "w");
  FILE *file = fopen("file", "w"), *command = popen("cat >/dev/null", "w");
  nvm_tx_begin(pool);
  c->value++;
#ifndef BUG
  nvm_tx_commit(pool);
#endif
  fprintf(peer, "%ld\n", c->value);
  fprintf(other, "%ld\n", c->value);
  fprintf(file, "%ld\n", c->value);
  fprintf(command, "%ld\n", c->value);
  fclose(idle);
  fclose(peer);    // FOUND: output before commit
  fclose(other);   // FOUND: output before commit
  fclose(file);    // FOUND: output before commit
  pclose(command); // FOUND: output before commit
#ifdef BUG
  nvm_tx_commit(pool);
#endif
  return nvm_pool_close(pool);
}
