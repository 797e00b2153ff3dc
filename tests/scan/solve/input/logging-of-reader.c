// An error report is given the reader, which holds the handle, and remembers it.
// FINDINGS: "logging and configuration code".
// Wrong: 'reader' and 'token' reported (kept by 'last' long after they are freed).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct stream {
  FILE *file;
};
struct token {
  char text[64];
};
struct reader {
  struct stream *stream;
  struct token *token;
  int errors;
};
static struct {
  struct reader *reader;
  char message[200];
} last;

static void complain(struct reader *r, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(last.message, sizeof last.message, format, values);
  va_end(values);
  last.reader = r;
  ++r->errors;
}

struct lease { // CHECK: lease [[@LINE]]
  unsigned address, until;
  struct lease *next;
};
static struct lease *leases;

static struct reader *open_reader(const char *path) {
  struct reader *r = malloc(sizeof *r);
  r->stream = malloc(sizeof *r->stream);
  r->stream->file = fopen(path, "r");
  r->token = malloc(sizeof *r->token);
  r->errors = 0;
  return r;
}

static void close_reader(struct reader *r) {
  fclose(r->stream->file);
  free(r->stream);
  free(r->token);
  free(r);
}

int load(const char *path) {
  struct reader *r = open_reader(path);
  while (fgets(r->token->text, sizeof r->token->text, r->stream->file)) {
    struct lease *l = malloc(sizeof *l);
    if (sscanf(r->token->text, "%u %u", &l->address, &l->until) != 2) {
      complain(r, "unusable line: %s", r->token->text);
      free(l);
      continue;
    }
    l->next = leases;
    leases = l;
  }
  close_reader(r);
  return 0;
}
