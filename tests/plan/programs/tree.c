// A tree with links to parents, and the words that were used last.
//
// load: load_words
// save: save_words
// file: words.txt
// data: dog 2
// data: cat 1
// command: add emu 1
// command: add ant 2
// command: drop dog
// command: add dog 4
// command: add bee 1
// ask: show
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct Node {
  char *word;
  int count;
  struct Node *left, *right, *parent;
} Node;
static Node *root;
static unsigned total;
static Node *recent[4];
static int nrecent;
static char outbuf[4096];
static size_t outlen;
static void out(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  outlen += vsnprintf(outbuf + outlen, sizeof outbuf - outlen, fmt, ap);
  va_end(ap);
  if (outlen >= sizeof outbuf)
    outlen = sizeof outbuf - 1;
}
static void flush_out(void) {
  size_t o = 0;
  while (o < outlen) {
    ssize_t n = write(1, outbuf + o, outlen - o);
    if (n <= 0)
      exit(1);
    o += n;
  }
  outlen = 0;
}
static Node *mk(const char *w, Node *parent) {
  Node *n = (Node *)malloc(sizeof(Node));
  n->word = strdup(w);
  n->count = 0;
  n->left = n->right = NULL;
  n->parent = parent;
  return n;
}
static Node *insert(const char *w, int by) {
  Node **p = &root, *par = NULL;
  while (*p) {
    int c = strcmp(w, (*p)->word);
    if (!c)
      break;
    par = *p;
    p = c < 0 ? &(*p)->left : &(*p)->right;
  }
  if (!*p)
    *p = mk(w, par);
  (*p)->count += by;
  total += by;
  recent[nrecent++ % 4] = *p;
  return *p;
}
static void save1(FILE *f, Node *n) {
  if (!n)
    return;
  fprintf(f, "%s %d\n", n->word, n->count);
  save1(f, n->left);
  save1(f, n->right);
}
void save_words(const char *p) {
  FILE *f = fopen(p, "w");
  if (f) {
    save1(f, root);
    fclose(f);
  }
}
int load_words(const char *p) {
  FILE *f = fopen(p, "r");
  char w[100];
  int n, k = 0;
  if (!f)
    return 0;
  while (fscanf(f, "%99s %d", w, &n) == 2)
    insert(w, n), k++;
  fclose(f);
  return 1;
}
static void replace(Node *n, Node *by) {
  if (!n->parent)
    root = by;
  else if (n->parent->left == n)
    n->parent->left = by;
  else
    n->parent->right = by;
  if (by)
    by->parent = n->parent;
}
static void drop(const char *w) {
  Node *n = root;
  while (n) {
    int c = strcmp(w, n->word);
    if (!c)
      break;
    n = c < 0 ? n->left : n->right;
  }
  if (!n) {
    out("no\n");
    return;
  }
  for (int i = 0; i < 4; i++)
    if (recent[i] == n)
      recent[i] = NULL;
  total -= n->count;
  if (n->left && n->right) {
    Node *m = n->right;
    while (m->left)
      m = m->left;
    if (m->parent != n) {
      replace(m, m->right);
      m->right = n->right;
      m->right->parent = m;
    }
    replace(n, m);
    m->left = n->left;
    m->left->parent = m;
  } else
    replace(n, n->left ? n->left : n->right);
  free(n->word);
  free(n);
  out("gone\n");
}
static void show(Node *n) {
  if (!n)
    return;
  show(n->left);
  out("%s=%d ", n->word, n->count);
  show(n->right);
}
static void command(char *l) {
  char w[100];
  int by;
  if (sscanf(l, "add %99s %d", w, &by) == 2)
    out("%d\n", insert(w, by)->count);
  else if (sscanf(l, "drop %99s", w) == 1)
    drop(w);
  else if (!strncmp(l, "show", 4)) {
    show(root);
    out("total %u recent", total);
    for (int i = 0; i < 4; i++)
      out(" %s", recent[i] ? recent[i]->word : "-");
    out("\n");
  } else
    out("what?\n");
}
int main(int argc, char **argv) {
  const char *file = argc > 1 ? argv[1] : "words.txt";
  char line[200];
  if (!load_words(file)) {
    out("empty dictionary\n");
  }
  while (fgets(line, sizeof line, stdin)) {
    command(line);
    flush_out();
  }
  save_words(file);
  return 0;
}
