// Lines of a compressed file; the library is only declared.
// load: dict_open
// must: headword dict
#include <stdlib.h>
#include <string.h>
typedef struct gzFile_s *gzFile;
gzFile gzopen(const char *, const char *);
char *gzgets(gzFile, char *, int);
int gzclose(gzFile);
struct headword { char *word, *sense; };
struct dict { struct headword *heads; size_t n, cap; };
static int compare(const void *a, const void *b) {
  return strcmp(((const struct headword *)a)->word, ((const struct headword *)b)->word);
}
struct dict *dict_open(const char *path) {
  char line[2048], *tab;
  gzFile gz = gzopen(path, "rb");
  struct dict *d;
  if (!gz)
    return NULL;
  if ((d = calloc(1, sizeof(struct dict))) == NULL)
    goto out;
  while (gzgets(gz, line, sizeof line)) {
    if (!(tab = strchr(line, '\t')))
      continue;
    *tab++ = '\0';
    if (d->n == d->cap)
      d->heads = reallocarray(d->heads, d->cap = d->cap ? 2 * d->cap : 256, sizeof(struct headword));
    d->heads[d->n].word = strdup(line);
    d->heads[d->n++].sense = strdup(tab);
  }
  qsort(d->heads, d->n, sizeof(struct headword), compare);
out:
  gzclose(gz);
  return d;
}
