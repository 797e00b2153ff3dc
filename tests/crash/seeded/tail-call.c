// One output is told once, also where the function ends in the call and would jump to it.
// RUN: %seeded %s -- -O2
#include "seeded.h"

#include <unistd.h>

struct counter {
  long value;
};

static struct counter *c;

__attribute__((noinline)) static ssize_t say(const char *text) {
  return write(1, text, strlen(text)); // FOUND: output before commit
}

__attribute__((noinline)) static int forget(void) {
  return unlink("/nowhere/file");
}

__attribute__((noinline)) static void change(void) {
  c->value++;
#ifdef BUG
  say("changed\n");
#endif
  forget();
  c->value++;
}

int main(int argc, char **argv) {
  c = CREATE(argv, struct counter);
  nvm_tx_begin(pool);
  change();
  nvm_tx_commit(pool);
  say("changed\n");
  return nvm_pool_close(pool);
}
