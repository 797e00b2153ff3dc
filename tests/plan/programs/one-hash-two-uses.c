// One hash table for users, which are kept, and for sessions, which are not.
//
// load: users_load
// save: users_save
// file: users.txt
// data: ann a@x 2
// data: bob b@x 0
// command: user cy c@x
// command: login ann 1.1
// command: user dd d
// command: user ee e
// command: login cy 2.2
// command: user ff f
// command: user gg g
// ask: n
// ask: show ann
// ask: show cy
// ask: show dd
// ask: show gg
/* users (kept) and sessions (die with the process) in the same hash */
#include "hash.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct user {
  int uid;
  char *mail;
  long logins;
};
struct session {
  int token;
  struct user *who;
  char *ip;
};
static hash *users, *sessions;
static int uids;
static int tokens = 1000;
static unsigned long sh(const void *k) {
  unsigned long h = 7;
  for (const char *s = k; *s; s++)
    h = h * 131 + *s;
  return h;
}
static int seq(const void *a, const void *b) { return !strcmp(a, b); }
static void *sdup(const void *s) { return strdup(s); }
static void ufree(void *v) {
  struct user *u = v;
  free(u->mail);
  free(u);
}
static void sfree(void *v) {
  struct session *s = v;
  free(s->ip);
  free(s);
}
static const hash_type utype = {sh, seq, sdup, ufree}, stype = {sh, seq, sdup, sfree};
static struct user *user_new(const char *name, const char *mail) {
  struct user *u = calloc(1, sizeof *u);
  uids += 1;
  u->uid = uids;
  u->mail = strdup(mail);
  hash_set(users, name, u);
  return u;
}
static int login(const char *name, const char *ip) {
  struct user *u = hash_get(users, name);
  if (!u)
    return 0;
  struct session *s = malloc(sizeof *s);
  s->token = ++tokens;
  s->who = u;
  s->ip = strdup(ip);
  char t[20];
  sprintf(t, "%d", s->token);
  hash_set(sessions, t, s);
  u->logins++;
  return s->token;
}
int users_load(const char *p) {
  users = hash_create(&utype);
  FILE *f = fopen(p, "r");
  char n[50], m[50];
  long l;
  if (!f)
    return 0;
  while (fscanf(f, "%49s %49s %ld", n, m, &l) == 3)
    user_new(n, m)->logins = l;
  fclose(f);
  return 0;
}
void users_save(const char *p) {
  FILE *f = fopen(p, "w");
  if (!f)
    return;
  for (size_t i = 0; i < users->n; i++)
    for (hash_entry *e = users->slots[i]; e; e = e->next) {
      struct user *u = e->val;
      fprintf(f, "%s %s %ld\n", (char *)e->key, u->mail, u->logins);
    }
  fclose(f);
}
static void say(const char *s) {
  printf("%s\n", s);
  fflush(stdout);
}
int main(void) {
  char l[200], a[50], b[50], o[200];
  users_load("users.txt");
  sessions = hash_create(&stype);
  while (fgets(l, sizeof l, stdin)) {
    if (sscanf(l, "user %49s %49s", a, b) == 2) {
      sprintf(o, "uid %d", user_new(a, b)->uid);
      say(o);
    } else if (sscanf(l, "login %49s %49s", a, b) == 2) {
      sprintf(o, "token %d", login(a, b));
      say(o);
    } else if (sscanf(l, "who %49s", a) == 1) {
      struct session *s = hash_get(sessions, a);
      sprintf(o, "%s", s ? s->who->mail : "nobody");
      say(o);
    } else if (sscanf(l, "logout %49s", a) == 1)
      say(hash_remove(sessions, a) ? "bye" : "nobody");
    else if (sscanf(l, "show %49s", a) == 1) {
      struct user *u = hash_get(users, a);
      if (u)
        sprintf(o, "%d %s %ld", u->uid, u->mail, u->logins);
      else
        strcpy(o, "none");
      say(o);
    } else if (!strncmp(l, "n", 1)) {
      sprintf(o, "%zu users", users->used);
      say(o);
    } else
      say("?");
  }
  users_save("users.txt");
  return 0;
}
