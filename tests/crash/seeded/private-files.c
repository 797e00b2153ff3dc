// What others cannot read is no output: calls that fail or move no byte, memory devices, files without a name.
// A file with a name is one, and one of mkstemp, as soon as it has another name.
// RUN: rm -rf %t && mkdir %t && cd %t && %seeded %s
#define _GNU_SOURCE
#include "seeded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct counter {
  long value;
};

static char path[4096], made[4096], final[4096];

static int temporary(char *name) {
  snprintf(name, 4096, "%s.temporary.XXXXXX", path);
  return mkstemp(name);
}

static void keep(int named, int ends[2]) {
  struct iovec nothing = {"", 0};
  int memory = memfd_create("scratch", 0), null = open("/dev/null", O_WRONLY);
  int unnamed = open("/dev/shm", O_TMPFILE | O_RDWR, 0600), event = eventfd(0, 0), wakes[2], fd;
  uint64_t one = 1;
  FILE *unlinked = tmpfile();
  fd = temporary(made);
  unlink(made);
  write(memory, "x", 1);
  ftruncate(memory, 4096);
  write(null, "x", 1);
  write(unnamed, "x", 1);
  write(fd, "x", 1);
  write(event, &one, sizeof one);
  eventfd_write(event, 1);
  pipe(wakes);
  write(wakes[1], "x", 1); // another thread of this process reads it
  fputs("x", unlinked);
  fflush(unlinked);
  fclose(unlinked);
  close(fd);
  fd = temporary(made);
  write(fd, "x", 1);
  ftruncate(fd, 8);
  fsync(fd);
  remove(made);
  close(fd);
  write(-1, "x", 1);
  write(named, "", 0);
  writev(named, &nothing, 1);
  send(ends[0], "", 0, 0);
  send(-1, "x", 1, 0);
  fflush(stdout);
  fprintf(stderr, "x\n");
  fflush(stderr);
  rename("/nowhere/new", "/nowhere/old");
  unlink("/nowhere/old");
  mkdir("/", 0700);
  rmdir("/nowhere");
  ftruncate(named, 1);
  close(open(path, O_RDONLY));
  close(open(path, O_RDWR | O_CREAT, 0600));
  open("/nowhere/new", O_RDWR | O_CREAT, 0600);
  fopen("/nowhere/new", "w");
  fclose(fopen("/dev/null", "w"));
}

int main(int argc, char **argv) {
  struct counter *c = CREATE(argv, struct counter);
  int ends[2], fd;
  if (!getcwd(path, 2048))
    return 1;
  snprintf(path + strlen(path), 2048, "/private");
  snprintf(final, sizeof final, "%s.final", path);
  int named = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
  write(named, "x", 1);
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  nvm_tx_begin(pool);
  c->value++;
  keep(named, ends);
#ifdef BUG
  write(named, "x", 1);      // FOUND: output before commit
  fd = temporary(made);
  rename(made, final);       // FOUND: output before commit
  write(fd, "x", 1);         // FOUND: output before commit
  remove(final);             // FOUND: output before commit
#endif
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
