// The C library keeps the tree.
// load: load_users
// must: user
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct user { char login[33]; int uid; };
static void *users;
static int by_login(const void *a, const void *b) { return strcmp(((const struct user *)a)->login, ((const struct user *)b)->login); }
int load_users(const char *passwd) {
  FILE *f = fopen(passwd, "r");
  struct user u;
  if (!f)
    return -1;
  while (fscanf(f, "%32[^:]:%*[^:]:%d%*[^\n]\n", u.login, &u.uid) == 2) {
    struct user *keep = malloc(sizeof *keep);
    *keep = u;
    tsearch(keep, &users, by_login);
  }
  return fclose(f);
}
