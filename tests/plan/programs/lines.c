// An editor: lines, marks, changes that can be taken back.
//
// load: read_doc
// save: write_doc
// file: doc.txt
// data: one
// data: two
// data: three
// command: i 1 inserted
// command: a 0 longer
// command: k a 2
// command: i 0 first
// ask: p
// ask: p
/* line editor: array of pointers grown by realloc, gap-less lines in realloc'd buffers, marks, function-static counter */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct line {
  char *buf;
  size_t len, cap;
  unsigned rev;
};
struct undo {
  struct undo *prev;
  int at;
  char *text;
};
static struct {
  struct line **lines;
  int n, cap;
  int mark[26];
  struct undo *undo;
  char *name;
  int modified;
} doc;
static void *grow(void *p, size_t n) {
  void *q = realloc(p, n ? n : 1);
  if (!q)
    abort();
  return q;
}
static unsigned revision(void) {
  static unsigned rev;
  return ++rev;
}
static void line_set(struct line *l, const char *s) {
  size_t n = strlen(s);
  if (n + 1 > l->cap)
    l->buf = grow(l->buf, l->cap = n + 1 + n / 2);
  memcpy(l->buf, s, n + 1);
  l->len = n;
  l->rev = revision();
}
static void line_append(struct line *l, const char *s) {
  size_t n = strlen(s);
  if (l->len + n + 1 > l->cap)
    l->buf = grow(l->buf, l->cap = (l->len + n + 1) * 2);
  memcpy(l->buf + l->len, s, n + 1);
  l->len += n;
  l->rev = revision();
}
static struct line *insert(int at, const char *s) {
  if (doc.n == doc.cap)
    doc.lines = grow(doc.lines, (doc.cap = doc.cap * 2 + 4) * sizeof *doc.lines);
  memmove(doc.lines + at + 1, doc.lines + at, (doc.n - at) * sizeof *doc.lines);
  struct line *l = doc.lines[at] = calloc(1, sizeof *l);
  doc.n++;
  line_set(l, s);
  return l;
}
static void push_undo(int at, const char *s) {
  struct undo *u = malloc(sizeof *u);
  u->prev = doc.undo;
  u->at = at;
  u->text = strdup(s);
  doc.undo = u;
}
static void delete(int at) {
  struct line *l = doc.lines[at];
  push_undo(at, l->buf);
  memmove(doc.lines + at, doc.lines + at + 1, (doc.n - at - 1) * sizeof *doc.lines);
  doc.n--;
  free(l->buf);
  free(l);
  doc.modified = 1;
}
static int read_doc(const char *name) {
  FILE *f = fopen(name, "r");
  char s[200];
  doc.name = strdup(name);
  if (!f)
    return -1;
  while (fgets(s, sizeof s, f)) {
    s[strcspn(s, "\n")] = 0;
    insert(doc.n, s);
  }
  fclose(f);
  return 0;
}
static int write_doc(void) {
  FILE *f = fopen(doc.name, "w");
  if (!f)
    return -1;
  for (int i = 0; i < doc.n; i++)
    fprintf(f, "%s\n", doc.lines[i]->buf);
  doc.modified = 0;
  return fclose(f);
}
static void respond(const char *s, int n) {
  fwrite(s, 1, n, stdout);
  fwrite("\n", 1, 1, stdout);
  fflush(stdout);
}
int main(int argc, char **argv) {
  char in[200], t[150], o[3000];
  int at;
  char m;
  if (read_doc(argc > 1 ? argv[1] : "doc.txt") < 0)
    fprintf(stderr, "new file\n");
  while (fgets(in, sizeof in, stdin)) {
    in[strcspn(in, "\n")] = 0;
    strcpy(o, "ok");
    if (sscanf(in, "i %d %149[^\n]", &at, t) == 2 && at >= 0 && at <= doc.n) {
      insert(at, t);
      doc.modified = 1;
    } else if (sscanf(in, "a %d %149[^\n]", &at, t) == 2 && at >= 0 && at < doc.n) {
      line_append(doc.lines[at], t);
      sprintf(o, "rev %u", doc.lines[at]->rev);
    } else if (sscanf(in, "d %d", &at) == 1 && at >= 0 && at < doc.n)
      delete (at);
    else if (sscanf(in, "k %c %d", &m, &at) == 2 && m >= 'a' && m <= 'z')
      doc.mark[m - 'a'] = at;
    else if (!strcmp(in, "u")) {
      struct undo *u = doc.undo;
      if (u) {
        doc.undo = u->prev;
        insert(u->at, u->text);
        free(u->text);
        free(u);
      } else
        strcpy(o, "nothing");
    } else if (!strcmp(in, "p")) {
      o[0] = 0;
      for (int i = 0; i < doc.n; i++)
        sprintf(o + strlen(o), "%s|", doc.lines[i]->buf);
      sprintf(o + strlen(o), " mark a=%d undo=%s mod=%d", doc.mark[0],
              doc.undo ? doc.undo->text : "-", doc.modified);
    } else
      strcpy(o, "?");
    respond(o, strlen(o));
  }
  return write_doc();
}
