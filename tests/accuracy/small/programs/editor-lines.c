// A text editor: lines with a flexible array in a ring with a sentinel, undo is off while loading.
// load: buffer_open
// must: line buffer
// never: undo_step
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct line { struct line *l_fp, *l_bp; int l_size, l_used; char l_text[]; } LINE;
typedef struct buffer { struct buffer *b_next; char b_name[16]; char b_file[256]; LINE *b_linep, *b_dotp; int b_doto; char b_flag; } BUFFER;
struct undo_step { struct undo_step *prev; int kind; LINE *where; };
static BUFFER *bheadp, *curbp;
static struct undo_step *undo_top;
static int undo_enabled = 1;
static LINE *lalloc(int used) {
  int size = (used + 15) & ~15;
  LINE *lp = malloc(sizeof(LINE) + size);
  if (!lp) {
    fprintf(stderr, "(OUT OF MEMORY)\n");
    return NULL;
  }
  lp->l_size = size;
  lp->l_used = used;
  return lp;
}
static BUFFER *bfind(const char *name) {
  BUFFER *bp;
  for (bp = bheadp; bp; bp = bp->b_next)
    if (!strcmp(name, bp->b_name))
      return bp;
  if (!(bp = malloc(sizeof(BUFFER))))
    return NULL;
  LINE *lp = lalloc(0);
  if (!lp) {
    free(bp);
    return NULL;
  }
  strncpy(bp->b_name, name, 15);
  bp->b_file[0] = 0;
  bp->b_dotp = bp->b_linep = lp;
  bp->b_doto = 0;
  bp->b_flag = 0;
  lp->l_fp = lp->l_bp = lp;
  bp->b_next = bheadp;
  bheadp = bp;
  return bp;
}
static void remember(int kind, LINE *where) {
  if (!undo_enabled)
    return;
  struct undo_step *u = malloc(sizeof *u);
  u->kind = kind;
  u->where = where;
  u->prev = undo_top;
  undo_top = u;
}
static void insert_line(BUFFER *bp, LINE *lp) {
  LINE *last = bp->b_linep->l_bp;
  last->l_fp = lp;
  lp->l_bp = last;
  lp->l_fp = bp->b_linep;
  bp->b_linep->l_bp = lp;
}
void newline(void) {
  LINE *lp = lalloc(0);
  insert_line(curbp, lp);
  remember(1, lp);
}
int buffer_open(const char *fname) {
  char text[1024];
  FILE *fp = fopen(fname, "r");
  if (!(curbp = bfind(fname)))
    return 0;
  strncpy(curbp->b_file, fname, sizeof curbp->b_file - 1);
  if (!fp)
    return 1;
  undo_enabled = 0;
  while (fgets(text, sizeof text, fp)) {
    int n = (int)strcspn(text, "\n");
    LINE *lp = lalloc(n);
    if (!lp)
      break;
    memcpy(lp->l_text, text, n);
    insert_line(curbp, lp);
  }
  undo_enabled = 1;
  fclose(fp);
  return 1;
}
