// A log that is printed into a buffer of the pool: stdio stores there when it pleases.
// RUN: %seeded %s
#include "seeded.h"

struct log {
  long lines;
  char text[200];
};

int main(int argc, char **argv) {
  struct log *log = CREATE(argv, struct log);
#ifdef BUG
  FILE *stream = fmemopen(log->text, sizeof log->text, "w");
#endif
  for (int i = 0; i < 3; i++) {
    nvm_tx_begin(pool);
#ifdef BUG
    fprintf(stream, "line %d\n", i);
    fflush(stream); // FOUND: unseen store
#else
    size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof log->text - used, "line %d\n", i);
#endif
    log->lines++;
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
