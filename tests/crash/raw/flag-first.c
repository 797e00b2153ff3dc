// A message and the flag that says it is there: flushed together, so either may be there alone.
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

struct slot {
  char text[64];
  long valid;
  char own_line[56];
};

int main(int argc, char **argv) {
  struct slot *slots = map_file(argv, 8 * sizeof *slots);
  if (argc > 2) {
    for (long i = 0; i < 8; i++)
      if (slots[i].valid && strcmp(slots[i].text, "message"))
        return wrong("no message in slot", i);
    for (long i = 0; i < acked(argv); i++)
      if (!slots[i].valid)
        return wrong("lost: slot", i);
    return 0;
  }
  for (long i = 0; i < 4; i++) {
    strcpy(slots[i].text, "message"); // FOUND: checker
    flush(slots[i].text, sizeof slots[i].text);
#ifndef BUG
    fence();
#endif
    slots[i].valid = 1;
    flush(&slots[i].valid, sizeof slots[i].valid);
    fence();
    acknowledge(i + 1);
  }
  return 0;
}
