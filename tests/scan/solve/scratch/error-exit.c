// On bad input the program writes a report and exits, through functions that nobody declared
// noreturn.
// Design 1: "infer noreturn error exits".
// Wrong: 'report' or 'frame' (built on the way out) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct frame {
  char line[80];
  struct frame *next;
};
struct report {
  struct frame *frames;
  int code;
};
static struct report *lastReport;

static struct frame *frameNew(const char *line) {
  struct frame *f = calloc(1, sizeof *f);
  strncpy(f->line, line, sizeof f->line - 1);
  return f;
}
static void quit(int code) {
  fflush(NULL);
  exit(code);
}
static void giveUp(const char *line, int code) {
  lastReport = calloc(1, sizeof *lastReport);
  lastReport->frames = frameNew(line);
  lastReport->code = code;
  quit(code);
}

struct port { // CHECK: port [[@LINE]]
  int number;
  struct port *next;
};
static struct port *ports;

int load(const char *path) {
  char line[80];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct port *p = malloc(sizeof *p);
    if (sscanf(line, "%d", &p->number) != 1)
      giveUp(line, 3);
    if (p->number < 0) {
      lastReport = calloc(1, sizeof *lastReport);
      lastReport->frames = frameNew(line);
      quit(4);
    }
    p->next = ports;
    ports = p;
  }
  fclose(f);
  return 0;
}
