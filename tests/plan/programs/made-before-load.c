// Two containers: one is made before the load, the other one by it.
//
// load: board_load
// save: board_save
// file: board.txt
// data: U ann 3
// data: U bob 1
// data: P ann hello there
// data: P bob good day
// command: post cy hi
// command: up bob
// command: post ann again
// command: up cy
// ask: last
// ask: karma ann
// ask: karma bob
// ask: karma cy
// ask: users
/* users in a table made at start (before the load), posts in a list: one program, two containers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct user {
  char *name;
  int karma;
  struct user *next;
};
struct post {
  int id;
  char *text;
  struct user *by;
  struct post *next;
};
struct table {
  size_t n;
  struct user **slots;
};
static struct table *users;
static struct post *posts;
static struct table *table_new(size_t n) {
  struct table *t = malloc(sizeof *t);
  t->n = n;
  t->slots = calloc(n, sizeof *t->slots);
  return t;
}
static struct user *user(const char *name) {
  unsigned h = (unsigned char)name[0] % users->n;
  struct user *u;
  for (u = users->slots[h]; u; u = u->next)
    if (!strcmp(u->name, name))
      return u;
  u = malloc(sizeof *u);
  u->name = strdup(name);
  u->karma = 0;
  u->next = users->slots[h];
  users->slots[h] = u;
  return u;
}
static int post(struct user *u, const char *text) {
  struct post *p = malloc(sizeof *p);
  p->id = posts ? posts->id + 1 : 1;
  p->text = strdup(text);
  p->by = u;
  p->next = posts;
  posts = p;
  u->karma++;
  return p->id;
}
static int board_load(const char *path) {
  FILE *f = fopen(path, "r");
  char l[200], n[50], t[100];
  if (!f)
    return 0;
  while (fgets(l, sizeof l, f)) {
    int k;
    if (sscanf(l, "U %49s %d", n, &k) == 2)
      user(n)->karma = k;
    else if (sscanf(l, "P %49s %99[^\n]", n, t) == 2) {
      post(user(n), t);
      user(n)->karma--;
    }
  }
  fclose(f);
  return 1;
}
static void save_posts(FILE *f, struct post *p) {
  if (!p)
    return;
  save_posts(f, p->next);
  fprintf(f, "P %s %s\n", p->by->name, p->text);
}
static void board_save(const char *path) {
  FILE *f = fopen(path, "w");
  if (!f)
    return;
  for (size_t i = 0; i < users->n; i++)
    for (struct user *u = users->slots[i]; u; u = u->next)
      fprintf(f, "U %s %d\n", u->name, u->karma);
  save_posts(f, posts);
  fclose(f);
}
static void answer(const char *s) {
  puts(s);
  fflush(stdout);
}
int main(void) {
  char l[200], n[50], t[100], o[400];
  users = table_new(16);
  board_load("board.txt");
  while (fgets(l, sizeof l, stdin)) {
    if (sscanf(l, "post %49s %99[^\n]", n, t) == 2) {
      sprintf(o, "%d", post(user(n), t));
      answer(o);
    } else if (sscanf(l, "karma %49s", n) == 1) {
      sprintf(o, "%d", user(n)->karma);
      answer(o);
    } else if (sscanf(l, "up %49s", n) == 1) {
      user(n)->karma++;
      answer("up");
    } else if (!strncmp(l, "users", 5)) {
      int k = 0;
      for (size_t i = 0; i < users->n; i++)
        for (struct user *u = users->slots[i]; u; u = u->next)
          k++;
      sprintf(o, "%d users", k);
      answer(o);
    } else if (!strncmp(l, "last", 4)) {
      if (posts) {
        sprintf(o, "%d %s: %s", posts->id, posts->by->name, posts->text);
        answer(o);
      } else
        answer("none");
    } else
      answer("?");
  }
  board_save("board.txt");
  return 0;
}
