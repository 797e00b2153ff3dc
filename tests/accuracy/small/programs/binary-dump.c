// A header, then one read for all records.
// load: undump
// must: sample
// never: dumphead
#include <stdio.h>
#include <stdlib.h>
struct dumphead { unsigned magic, n, checksum; };
struct sample { long when; float value; int channel; };
static struct sample *samples;
static unsigned n_samples;
int undump(const char *file) {
  struct dumphead h;
  FILE *f = fopen(file, "rb");
  if (!f || fread(&h, sizeof h, 1, f) != 1 || h.magic != 0xD00D)
    return -1;
  samples = malloc(h.n * sizeof *samples);
  n_samples = fread(samples, sizeof *samples, h.n, f);
  fclose(f);
  return n_samples == h.n ? 0 : -1;
}
