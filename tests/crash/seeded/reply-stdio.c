// A stream on a socket empties its buffer in a transaction; into the buffer it may print.
// RUN: %seeded %s
#include "seeded.h"

#include <sys/socket.h>

struct log {
  long count;
};

int main(int argc, char **argv) {
  struct log *l = CREATE(argv, struct log);
  int ends[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  FILE *peer = fdopen(ends[0], "w");
  setvbuf(peer, NULL, _IOLBF, 100);
  nvm_tx_begin(pool);
  l->count++;
  printf("progress\n");
  fprintf(peer, "stored %ld", l->count);
#ifdef BUG
  fprintf(peer, " of %d\n", 3); // FOUND: output before commit
#endif
  nvm_tx_commit(pool);
  fprintf(peer, " of %d\n", 3);
  fclose(peer);
  return nvm_pool_close(pool);
}
