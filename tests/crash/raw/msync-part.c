// msync of a few bytes writes back all of their page, and not the next one.
// RUN: %raw %s
#include "raw.h"

enum { PAGE = 4096 };
struct file {
  long flag;
  char apart[56];
  long beside;
  char next[PAGE - 72];
  long behind;
};

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2) {
    if (f->flag && f->beside != 7)
      return wrong("beside", f->beside);
    return f->flag && f->behind != 8 ? wrong("behind", f->behind) : 0;
  }
  f->beside = 7;
  f->behind = 8; // FOUND: checker
#ifdef BUG
  msync(f, 64, MS_SYNC);
#else
  msync(f, PAGE + 1, MS_SYNC);
#endif
  f->flag = 1;
  msync(f, sizeof f->flag, MS_SYNC);
#ifdef BUG
  msync(&f->behind, 1, MS_SYNC);
#endif
  return 0;
}
