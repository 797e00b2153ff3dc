// copy(in, out) reads its first stream and writes its second: the backup file is no input, and what
// describes it no data.
// Rule 7: "tell readers from writers per parameter, not per function".
// Wrong: 'report' reported (made by a function that is given the written stream), or 'volume' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct report {
  long copied;
  int errors;
};
static struct report *lastReport;
struct volume { // CHECK: volume [[@LINE]]
  int number;
  long bytes;
  struct volume *next;
};
static struct volume *volumes;

static long copy(FILE *in, FILE *out, int *number) {
  char buffer[512];
  size_t n;
  long total = 0;
  fread(number, sizeof *number, 1, in);
  while ((n = fread(buffer, 1, sizeof buffer, in))) {
    fwrite(buffer, 1, n, out);
    total += n;
  }
  return total;
}
static void report(FILE *out) {
  lastReport = calloc(1, sizeof *lastReport);
  lastReport->copied = ftell(out);
}

int load(const char *path) {
  struct volume *v = malloc(sizeof *v);
  FILE *in = fopen(path, "rb"), *out = fopen("backup", "wb");
  v->bytes = copy(in, out, &v->number);
  v->next = volumes;
  volumes = v;
  report(out);
  fclose(in);
  fclose(out);
  return 0;
}
