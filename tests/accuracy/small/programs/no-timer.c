// A timer is armed for the next save.
// load: load_scores
// must: score
// never: timer
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
struct score { char who[24]; int points; struct score *next; };
struct timer { time_t due; void (*fire)(void *); void *arg; struct timer *next; };
static struct score *scores;
static struct timer *timers;
static void autosave(void *arg) { (void)arg; }
static void arm(int seconds, void (*fire)(void *), void *arg) {
  struct timer *t = malloc(sizeof *t);
  t->due = time(NULL) + seconds;
  t->fire = fire;
  t->arg = arg;
  t->next = timers;
  timers = t;
}
int load_scores(const char *p) {
  char who[24];
  int points;
  FILE *f = fopen(p, "r");
  if (!f)
    return -1;
  while (fscanf(f, "%23s %d", who, &points) == 2) {
    struct score *s = malloc(sizeof *s);
    strcpy(s->who, who);
    s->points = points;
    s->next = scores;
    scores = s;
  }
  arm(60, autosave, NULL);
  return fclose(f);
}
