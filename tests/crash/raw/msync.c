// msync of the first page of a record that lies in two.
// RUN: %raw %s
#include "raw.h"

enum { RECORDS = 3 };
struct file {
  char record[RECORDS][8192];
  long count;
};

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2) {
    for (long i = 0; i < f->count; i++)
      if (f->record[i][100] != 'a' + i || f->record[i][5000] != 'a' + i)
        return wrong("record", i);
    return f->count < acked(argv) ? wrong("count", f->count) : 0;
  }
  for (long i = 0; i < RECORDS; i++) {
    f->record[i][100] = (char)('a' + i);
    f->record[i][5000] = (char)('a' + i); // FOUND: checker
#ifdef BUG
    msync(f->record[i], 4096, MS_SYNC);
#else
    msync(f->record[i], sizeof f->record[i], MS_SYNC);
#endif
    f->count = i + 1;
    msync((char *)f + sizeof f->record, sizeof f->count, MS_SYNC);
    acknowledge(i + 1);
  }
#ifdef BUG
  fsync(open(argv[1], O_RDWR)); // at last
#endif
  return 0;
}
