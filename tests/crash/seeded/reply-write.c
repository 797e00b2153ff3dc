// The reply goes out before what it confirms is durable.
// RUN: %seeded %s
// A sanitizer has a write() of its own.
// RUN: %seeded %s -- -fsanitize=address
#include "seeded.h"

#include <unistd.h>

struct log {
  long count;
};

int main(int argc, char **argv) {
  struct log *l = CREATE(argv, struct log);
  for (int i = 0; i < 3; i++) {
    nvm_tx_begin(pool);
    l->count++;
    write(2, "working\n", 8); // for people
#ifdef BUG
    write(1, "stored\n", 7); // FOUND: output before commit
#endif
    nvm_tx_commit(pool);
    write(1, "stored\n", 7);
  }
  return nvm_pool_close(pool);
}
