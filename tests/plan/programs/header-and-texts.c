// Texts and numbers in variables beside the records, read by fread and fscanf.
//
// load: db_load
// save: db_save
// command: add six
// command: motd hey you
// command: add seven
// command: prio 3 9
// command: del 1
// command: add eight
// ask: info
/* a record file with a header read by fread into globals; fixed tables; text buffer filled by fgets/strcpy */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct header {
  uint32_t magic, version;
  uint64_t next_key;
  uint32_t count;
};
struct rec {
  uint64_t key;
  char text[24];
  struct rec *next;
};
static struct header hdr;
static char motd[64];
static uint8_t used[32];
static int prio[8];
static unsigned deleted;
static struct rec *recs;
static struct rec *add(uint64_t key, const char *text) {
  struct rec *r = calloc(1, sizeof *r);
  r->key = key;
  strncpy(r->text, text, 23);
  r->next = recs;
  recs = r;
  used[key / 8 % 32] |= 1 << key % 8;
  return r;
}
static int db_load(void) {
  FILE *f = fopen("hdr.db", "rb");
  struct rec r;
  if (!f) {
    hdr.magic = 7;
    hdr.next_key = 1;
    return -1;
  }
  if (fread(&hdr, sizeof hdr, 1, f) != 1 || fread(motd, sizeof motd, 1, f) != 1 ||
      fread(prio, sizeof prio, 1, f) != 1 || fscanf(f, "%u\n", &deleted) != 1) {
    fclose(f);
    return -1;
  }
  for (uint32_t i = 0; i < hdr.count && fread(&r, sizeof r, 1, f) == 1; i++)
    add(r.key, r.text);
  fclose(f);
  return 0;
}
static int db_save(void) {
  FILE *f = fopen("hdr.db", "wb");
  if (!f)
    return -1;
  fwrite(&hdr, sizeof hdr, 1, f);
  fwrite(motd, sizeof motd, 1, f);
  fwrite(prio, sizeof prio, 1, f);
  fprintf(f, "%u\n", deleted);
  for (struct rec *r = recs; r; r = r->next)
    fwrite(r, sizeof *r, 1, f);
  return fclose(f);
}
static void out(const char *s) {
  fputs(s, stdout);
  fflush(stdout);
}
static void cmd(char *l) {
  char b[300], t[100];
  unsigned k;
  int i, v;
  if (sscanf(l, "add %99s", t) == 1) {
    struct rec *r = add(hdr.next_key++, t);
    hdr.count++;
    sprintf(b, "%lu\n", (unsigned long)r->key);
    out(b);
  } else if (sscanf(l, "del %u", &k) == 1) {
    for (struct rec **p = &recs; *p; p = &(*p)->next)
      if ((*p)->key == k) {
        struct rec *r = *p;
        *p = r->next;
        free(r);
        hdr.count--;
        deleted++;
        used[k / 8 % 32] &= ~(1 << k % 8);
        out("deleted\n");
        return;
      }
    out("none\n");
  } else if (sscanf(l, "motd %63[^\n]", t) == 1) {
    strcpy(motd, t);
    out("set\n");
  } else if (sscanf(l, "prio %d %d", &i, &v) == 2 && i >= 0 && i < 8) {
    prio[i] = v;
    out("set\n");
  } else if (!strncmp(l, "info", 4)) {
    unsigned n = 0;
    for (i = 0; i < 32; i++)
      n += __builtin_popcount(used[i]);
    sprintf(b, "count=%u next=%lu motd=%s prio3=%d deleted=%u used=%u:", hdr.count,
            (unsigned long)hdr.next_key, motd, prio[3], deleted, n);
    for (struct rec *r = recs; r; r = r->next)
      sprintf(b + strlen(b), " %s", r->text);
    strcat(b, "\n");
    out(b);
  } else
    out("?\n");
}
int main(void) {
  char l[200];
  db_load();
  while (fgets(l, sizeof l, stdin))
    cmd(l);
  return db_save();
}
