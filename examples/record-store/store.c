/* The append-only store, see store.h. A record in the file is a struct header, the key, the value. */
#include "store.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x4e564d31, TOMBSTONE = 1, KEY_MAX = 4096, VALUE_MAX = 1 << 24 };

struct header {
  uint32_t magic, flags, key_length, value_length;
  uint64_t sequence;
};

/* State of one replay. */
struct replay {
  FILE *file;
  char *key; /* of the record being read */
  unsigned long records, tombstones;
};

static int read_exactly(struct replay *r, void *to, size_t n) {
  return fread(to, 1, n, r->file) == n ? 0 : -1;
}

static struct record *read_value(struct replay *r, const struct header *h) {
  struct record *rec = malloc(sizeof *rec);
  if (!rec)
    return NULL;
  rec->sequence = h->sequence;
  rec->length = h->value_length;
  rec->value = malloc(rec->length + 1);
  if (!rec->value || read_exactly(r, rec->value, rec->length) != 0) {
    record_free(rec);
    return NULL;
  }
  rec->value[rec->length] = '\0';
  return rec;
}

/* 1: a record was applied, 0: end of file, -1: damaged. */
static int replay_one(struct store *s, struct replay *r) {
  struct header h;
  size_t got = fread(&h, 1, sizeof h, r->file);
  if (got == 0)
    return 0;
  if (got != sizeof h || h.magic != MAGIC || h.key_length >= KEY_MAX || h.value_length > VALUE_MAX)
    return -1;
  if (read_exactly(r, r->key, h.key_length) != 0)
    return -1;
  r->key[h.key_length] = '\0';
  r->records++;
  s->next_sequence = h.sequence + 1;
  if (h.flags & TOMBSTONE) {
    r->tombstones++;
    table_remove(s->table, r->key);
    return 1;
  }
  struct record *rec = read_value(r, &h);
  if (!rec || table_put(s->table, r->key, rec) != 0) {
    record_free(rec);
    return -1;
  }
  return 1;
}

static int replay_file(struct store *s) {
  struct replay *r = calloc(1, sizeof *r);
  int state = -1;
  if (!r)
    return -1;
  r->file = fopen(s->path, "rb");
  if (!r->file) {
    free(r);
    return errno == ENOENT ? 0 : -1;
  }
  r->key = malloc(KEY_MAX);
  if (r->key)
    while ((state = replay_one(s, r)) == 1)
      continue;
  free(r->key);
  fclose(r->file);
  free(r);
  return state;
}

struct store *store_open(const char *path) {
  struct store *s = calloc(1, sizeof *s);
  if (!s)
    return NULL;
  s->path = path;
  s->table = table_create();
  if (!s->table || replay_file(s) != 0) {
    store_close(s);
    return NULL;
  }
  return s;
}

void store_close(struct store *s) {
  table_free(s->table);
  free(s);
}

static int write_record(FILE *f, const char *key, const char *value, size_t length, uint32_t flags,
                        uint64_t sequence) {
  struct header h = {MAGIC, flags, (uint32_t)strlen(key), (uint32_t)length, sequence};
  if (fwrite(&h, sizeof h, 1, f) != 1 || fwrite(key, 1, h.key_length, f) != h.key_length ||
      fwrite(value, 1, length, f) != length)
    return -1;
  return 0;
}

static int append(struct store *s, const char *key, const char *value, uint32_t flags) {
  FILE *f = fopen(s->path, "ab");
  if (!f)
    return -1;
  int failed = write_record(f, key, value, strlen(value), flags, s->next_sequence++);
  return fclose(f) != 0 || failed ? -1 : 0;
}

int store_put(struct store *s, const char *key, const char *value) {
  size_t length = strlen(value);
  if (strlen(key) >= KEY_MAX || length > VALUE_MAX) {
    errno = EINVAL;
    return -1;
  }
  struct record *rec = malloc(sizeof *rec);
  char *copy = malloc(length + 1);
  if (!rec || !copy || append(s, key, value, 0) != 0) {
    free(rec);
    free(copy);
    return -1;
  }
  rec->sequence = s->next_sequence - 1;
  rec->length = length;
  rec->value = memcpy(copy, value, length + 1);
  if (table_put(s->table, key, rec) != 0) {
    record_free(rec);
    return -1;
  }
  return 0;
}

int store_delete(struct store *s, const char *key) {
  if (!table_get(s->table, key)) {
    errno = ENOENT;
    return -1;
  }
  if (append(s, key, "", TOMBSTONE) != 0)
    return -1;
  table_remove(s->table, key);
  return 0;
}

int store_compact(struct store *s) {
  static const char suffix[] = ".new";
  char *temporary = malloc(strlen(s->path) + sizeof suffix);
  if (!temporary)
    return -1;
  strcat(strcpy(temporary, s->path), suffix);
  FILE *f = fopen(temporary, "wb");
  int failed = !f;
  for (size_t i = 0; f && i < s->table->size; i++)
    for (struct bucket *b = s->table->buckets[i]; b; b = b->next)
      failed |= write_record(f, b->key, b->record->value, b->record->length, 0,
                             b->record->sequence);
  failed |= f && fclose(f) != 0;
  failed = failed || rename(temporary, s->path) != 0;
  free(temporary);
  return failed ? -1 : 0;
}
