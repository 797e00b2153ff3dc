// A log whose tail is moved over a record that nobody flushed.
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

struct log {
  long tail;
  char own_line[56];
  struct {
    long key, value;
  } record[32];
};

int main(int argc, char **argv) {
  struct log *log = map_file(argv, sizeof *log);
  if (argc > 2) {
    for (long i = 0; i < log->tail; i++)
      if (log->record[i].value != 10 * (i + 1))
        return wrong("the value of record", i);
    return log->tail < acked(argv) ? wrong("lost: record", log->tail) : 0;
  }
  for (long i = 0; i < 6; i++) {
    log->record[i].key = i + 1;
    log->record[i].value = 10 * (i + 1); // FOUND: checker
#ifdef BUG
    flush(&log->record[i], sizeof log->record[i].key); // as much as was thought to be needed ...
    log->tail = i + 1;                                 // ... and the fence forgotten
    persist(&log->tail, sizeof log->tail);
#else
    persist(&log->record[i], sizeof log->record[i]);
    log->tail = i + 1;
    persist(&log->tail, sizeof log->tail);
#endif
    acknowledge(i + 1);
  }
  return 0;
}
