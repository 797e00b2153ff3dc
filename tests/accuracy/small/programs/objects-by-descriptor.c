// One reader makes objects of any kind from a description: size, and fields with offsets.
// load: db_read
// must: artist album
// never: desc field
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct field { const char *name; char type; size_t off; };
struct desc { const char *name; size_t size, link; const struct field *fields; void **head; };
struct artist { char *name; int32_t born; struct artist *next; };
struct album { char *title; int32_t year, tracks; struct album *next; };
static struct artist *artists;
static struct album *albums;
static const struct field artist_fields[] = {{"name", 's', offsetof(struct artist, name)}, {"born", 'i', offsetof(struct artist, born)}, {0}};
static const struct field album_fields[] = {{"title", 's', offsetof(struct album, title)}, {"year", 'i', offsetof(struct album, year)}, {"tracks", 'i', offsetof(struct album, tracks)}, {0}};
static const struct desc descs[] = {
    {"artist", sizeof(struct artist), offsetof(struct artist, next), artist_fields, (void **)&artists},
    {"album", sizeof(struct album), offsetof(struct album, next), album_fields, (void **)&albums}};
static void *object_read(const struct desc *d, FILE *f) {
  char word[128];
  char *o = calloc(1, d->size);
  for (const struct field *fl = d->fields; fl->name; fl++) {
    if (fscanf(f, "%127s", word) != 1)
      break;
    if (fl->type == 's')
      *(char **)(o + fl->off) = strdup(word);
    else
      *(int32_t *)(o + fl->off) = atoi(word);
  }
  return o;
}
int db_read(FILE *f) {
  char kind[32];
  while (fscanf(f, "%31s", kind) == 1)
    for (size_t i = 0; i < 2; i++)
      if (!strcmp(kind, descs[i].name)) {
        char *o = object_read(&descs[i], f);
        *(void **)(o + descs[i].link) = *descs[i].head;
        *descs[i].head = o;
      }
  return 0;
}
