// Each way to print on a socket whose stream is not buffered, or is emptied; also as headers that fortify have it.
// RUN: rm -rf %t && mkdir %t && cd %t && %seeded %s
// RUN: cd %t && %seeded %s -- -O2 -D_FORTIFY_SOURCE=2
#define _GNU_SOURCE
#include "seeded.h"

#include <stdarg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>
#include <wchar.h>

struct counter {
  long value;
};

static FILE *open_unbuffered(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
    exit(1);
  FILE *made = fdopen(ends[0], "w");
  setvbuf(made, NULL, _IONBF, 0);
  return made;
}

static void with_list(FILE *to, int fd, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(to, format, list);                   // FOUND: output before commit
  va_end(list);
  va_start(list, format);
  vdprintf(fd, format, list);                   // FOUND: output before commit
  va_end(list);
}

static void print_all(FILE *plain, FILE *wide, FILE *filled, long value) {
  int set = semget(IPC_PRIVATE, 1, 0600);
  fprintf(plain, "%ld", value);                 // FOUND: output before commit
  fputs("text", plain);                         // FOUND: output before commit
  fputc('c', plain);                            // FOUND: output before commit
  fwrite("text", 1, 4, plain);                  // FOUND: output before commit
  fputs_unlocked("text", plain);                // FOUND: output before commit
  fputc_unlocked('c', plain);                   // FOUND: output before commit
  putc_unlocked('c', plain);                    // FOUND: output before commit
  fwrite_unlocked("longer text", 1, 11, plain); // FOUND: output before commit
  putw(7, plain);                               // FOUND: output before commit
  fputws(L"text", wide);                        // FOUND: output before commit
  fputwc(L'c', wide);                           // FOUND: output before commit
  fwprintf(wide, L"%ld", value);                // FOUND: output before commit
  dprintf(fileno(plain), "%ld", value);         // FOUND: output before commit
  with_list(plain, fileno(plain), "%ld", value);
  fputs("text", filled);
  fflush_unlocked(filled);                      // FOUND: output before commit
  fflush_unlocked(filled);
  semctl(set, 0, SETVAL, 1);                    // FOUND: output before commit
  semctl(set, 0, GETVAL);
  semctl(set, 0, IPC_RMID);
  syslog(LOG_DEBUG, "%ld", value);              // FOUND: output before commit
}

int main(int argc, char **argv) {
  struct counter *c = CREATE(argv, struct counter);
  int ends[2];
  FILE *plain = open_unbuffered(), *wide = open_unbuffered();
  fwide(wide, 1);
  FILE *filled = socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? NULL : fdopen(ends[0], "w");
  nvm_tx_begin(pool);
  c->value++;
#ifndef BUG
  nvm_tx_commit(pool);
#endif
  print_all(plain, wide, filled, c->value);
#ifdef BUG
  nvm_tx_commit(pool);
#endif
  return nvm_pool_close(pool);
}
