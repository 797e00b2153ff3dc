// States by goto.
// load: parse_rules
// must: policy
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct policy { struct policy *next; char who[32]; int allow; };
static struct policy *policies;
int parse_rules(FILE *f) {
  struct policy *p;
  char w[32];
next:
  if (fscanf(f, "%31s", w) != 1)
    goto done;
  if (!strcmp(w, "allow") || !strcmp(w, "deny"))
    goto who;
  goto next;
who:
  p = malloc(sizeof *p);
  if (!p)
    goto fail;
  p->allow = w[0] == 'a';
  if (fscanf(f, "%31s", p->who) != 1)
    goto drop;
  p->next = policies;
  policies = p;
  goto next;
drop:
  free(p);
fail:
  return -1;
done:
  return 0;
}
