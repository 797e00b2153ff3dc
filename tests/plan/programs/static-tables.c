// Records in static tables, with a stack of those that are free.
//
// load: hotel_load
// save: hotel_save
// file: hotel.txt
// data: 900
// data: ann 2
// data: bob 3
// command: in cy 4
// command: out 0
// command: in dd 1
// command: in ee 1
// command: out 2
// ask: tot
// ask: room 0
// ask: room 1
// ask: room 2
// ask: room 3
/* everything in static tables: no heap for records but names; a bitmap, a counter, enum state, a stack of free indices */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 32
typedef struct {
  char *guest;
  int nights;
  enum { FREE, BOOKED, DIRTY } state;
} room;
static room rooms[N];
static int free_stack[N], free_top;
static struct {
  long income;
  int guests;
} totals;
static char last_guest[32];
static void init(void) {
  for (int i = N - 1; i >= 0; i--)
    free_stack[free_top++] = i;
}
static int checkin(const char *g, int nights) {
  if (!free_top)
    return -1;
  int r = free_stack[--free_top];
  rooms[r].guest = strdup(g);
  rooms[r].nights = nights;
  rooms[r].state = BOOKED;
  totals.guests++;
  totals.income += nights * 50;
  snprintf(last_guest, sizeof last_guest, "%s", g);
  return r;
}
static int checkout(int r) {
  if (r < 0 || r >= N || rooms[r].state != BOOKED)
    return -1;
  free(rooms[r].guest);
  rooms[r].guest = NULL;
  rooms[r].state = FREE;
  free_stack[free_top++] = r;
  totals.guests -= 1;
  return 0;
}
static void hotel_load(void) {
  FILE *f = fopen("hotel.txt", "r");
  char g[30];
  int n;
  init();
  if (!f)
    return;
  if (fscanf(f, "%ld", &totals.income) == 1)
    while (fscanf(f, "%29s %d", g, &n) == 2) {
      checkin(g, n);
      totals.income -= n * 50;
    }
  fclose(f);
}
static void hotel_save(void) {
  FILE *f = fopen("hotel.txt", "w");
  if (!f)
    return;
  fprintf(f, "%ld\n", totals.income);
  for (int i = 0; i < N; i++)
    if (rooms[i].state == BOOKED)
      fprintf(f, "%s %d\n", rooms[i].guest, rooms[i].nights);
  fclose(f);
}
static void o(const char *s) {
  puts(s);
  fflush(stdout);
}
int main(void) {
  char l[100], g[30], b[100];
  int n;
  hotel_load();
  while (fgets(l, sizeof l, stdin)) {
    if (sscanf(l, "in %29s %d", g, &n) == 2) {
      sprintf(b, "room %d", checkin(g, n));
      o(b);
    } else if (sscanf(l, "out %d", &n) == 1)
      o(checkout(n) ? "no" : "bye");
    else if (sscanf(l, "room %d", &n) == 1)
      o(rooms[n].guest ? rooms[n].guest : "free");
    else if (!strncmp(l, "tot", 3)) {
      sprintf(b, "%ld %d free %d last %s", totals.income, totals.guests, free_top, last_guest);
      o(b);
    } else
      o("?");
  }
  hotel_save();
  return 0;
}
