// Formats register themselves when the first file is opened; the loader that fits is asked.
// load: song_load
// must: song note
// never: format
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct note { unsigned char pitch, len; };
struct song { char title[28]; int tempo, nnotes; struct note *notes; };
struct format { const char *magic; struct song *(*load)(FILE *); struct format *next; };
static struct format *formats;
static void format_register(const char *magic, struct song *(*load)(FILE *)) {
  struct format *fmt = malloc(sizeof(struct format));
  fmt->magic = magic;
  fmt->load = load;
  fmt->next = formats;
  formats = fmt;
}
static struct song *song_new(int n) {
  struct song *s = calloc(1, sizeof(struct song));
  s->nnotes = n;
  s->notes = n ? calloc(n, sizeof(struct note)) : NULL;
  return s;
}
static struct song *load_abc(FILE *f) {
  char line[128];
  struct song *s = song_new(0);
  while (fgets(line, sizeof line, f))
    if (sscanf(line, "T:%27s", s->title) == 1 || sscanf(line, "Q:%d", &s->tempo) == 1)
      continue;
    else
      for (char *p = line; *p >= 'A' && *p <= 'G'; p++) {
        s->notes = realloc(s->notes, (s->nnotes + 1) * sizeof(struct note));
        s->notes[s->nnotes++] = (struct note){(unsigned char)*p, 1};
      }
  return s;
}
static struct song *load_raw(FILE *f) {
  int n = fgetc(f);
  struct song *s = song_new(n < 0 ? 0 : n);
  s->tempo = fgetc(f);
  for (int i = 0; i < s->nnotes; i++) {
    s->notes[i].pitch = (unsigned char)fgetc(f);
    s->notes[i].len = (unsigned char)fgetc(f);
  }
  return s;
}
struct song *song_load(const char *path) {
  char magic[5] = "";
  FILE *f = fopen(path, "rb");
  struct song *s = NULL;
  if (!f)
    return NULL;
  if (!formats) {
    format_register("X:1\n", load_abc);
    format_register("RAWM", load_raw);
  }
  fread(magic, 1, 4, f);
  for (struct format *fmt = formats; fmt && !s; fmt = fmt->next)
    if (!memcmp(fmt->magic, magic, 4))
      s = fmt->load(f);
  fclose(f);
  return s;
}
