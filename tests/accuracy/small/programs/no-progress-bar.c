// Progress is shown meanwhile.
// load: load_stock
// must: quote
// never: bar
#include <stdio.h>
#include <stdlib.h>
struct quote { int day; double close; };
struct bar { long total, done; int percent; };
static struct quote *quotes;
static struct bar bar;
static void show(long n) {
  bar.done += n;
  bar.percent = (int)(100 * bar.done / (bar.total + 1));
  fprintf(stderr, "\r%d%%", bar.percent);
}
long load_stock(const char *p) {
  long n = 0;
  FILE *f = fopen(p, "rb");
  if (!f)
    return -1;
  fseek(f, 0, SEEK_END);
  bar.total = ftell(f);
  rewind(f);
  quotes = malloc(bar.total);
  while (fread(&quotes[n], sizeof *quotes, 1, f) == 1) {
    n++;
    show(sizeof *quotes);
  }
  fclose(f);
  return n;
}
