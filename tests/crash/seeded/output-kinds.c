// Each way in which others learn of something: bytes, names, lengths, signals, programs that are started.
// RUN: rm -rf %t && mkdir %t && cd %t && %seeded %s
#define _GNU_SOURCE
#include "seeded.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct counter {
  long value;
};

static void give_bytes(int file, const int *ends) {
  static char text[4] = "told";
  struct iovec part = {text, 4};
  struct aiocb request = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 4};
  off64_t from = 0, to = 100;
  pwritev2(file, &part, 1, 0, 0);                                    // FOUND: output before commit
  copy_file_range(file, &from, file, &to, 2, 0);                     // FOUND: output before commit
  vmsplice(ends[1], &part, 1, 0);                                    // FOUND: output before commit
  aio_write(&request);                                               // FOUND: output before commit
  while (aio_error(&request) == EINPROGRESS)
    usleep(1000);
  syscall(SYS_write, file, text, 4);                                 // FOUND: output before commit
  struct aiocb *list[] = {NULL, &request};
  request.aio_lio_opcode = LIO_READ;
  lio_listio(LIO_WAIT, list, 2, NULL);
  request.aio_lio_opcode = LIO_WRITE;
  lio_listio(LIO_WAIT, list, 2, NULL);                               // FOUND: output before commit
  int set = semget(IPC_PRIVATE, 1, 0600);
  struct sembuf give = {0, 1, 0}, take = {0, -1, 0};
  semop(set, &give, 1);                                              // FOUND: output before commit
  semop(set, &take, 1);
  semctl(set, 0, IPC_RMID);
}

static void change_names(int file) {
  char shared[32];
  snprintf(shared, sizeof shared, "/nvmove-output-kinds.%d", getpid());
  int here = open(".", O_RDONLY);
  close(open("file", O_CREAT | O_EXCL | O_RDWR, 0600));              // FOUND: output before commit
  close(openat(here, "other", O_CREAT | O_RDWR, 0600));              // FOUND: output before commit
  close(creat("third", 0600));                                       // FOUND: output before commit
  close(open("long", O_TRUNC | O_RDWR));                             // FOUND: output before commit
  truncate("long", 7);                                               // FOUND: output before commit
  ftruncate(file, 8192);                                             // FOUND: output before commit
  link("file", "file2");                                             // FOUND: output before commit
  symlink("file", "file3");                                          // FOUND: output before commit
  symlinkat("file", here, "file4");                                  // FOUND: output before commit
  mkdir("folder", 0700);                                             // FOUND: output before commit
  mkdirat(here, "folder2", 0700);                                    // FOUND: output before commit
  rmdir("folder");                                                   // FOUND: output before commit
  unlinkat(here, "folder2", AT_REMOVEDIR);                           // FOUND: output before commit
  unlink("file2");                                                   // FOUND: output before commit
  remove("file3");                                                   // FOUND: output before commit
  unlinkat(here, "file4", 0);                                        // FOUND: output before commit
  renameat(here, "other", here, "file5");                            // FOUND: output before commit
  fclose(fopen("stream", "w"));                                      // FOUND: output before commit
  syscall(SYS_unlinkat, here, "stream", 0);                          // FOUND: output before commit
  mknod("pipe", S_IFIFO | 0600, 0);                                  // FOUND: output before commit
  mknodat(here, "pipe2", S_IFIFO | 0600, 0);                         // FOUND: output before commit
  mkfifoat(here, "pipe3", 0600);                                     // FOUND: output before commit
  fallocate(file, 0, 0, 16384);                                      // FOUND: output before commit
  fallocate(file, 0, 0, 4096);
  fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 32768);
  fallocate(file, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 4096); // FOUND: output before commit
  posix_fallocate(file, 0, 20000);                                   // FOUND: output before commit
  posix_fallocate(file, 0, 20000);
  close(shm_open(shared, O_CREAT | O_RDWR, 0600));                   // FOUND: output before commit
  close(shm_open(shared, O_CREAT | O_RDWR, 0600));
  shm_unlink(shared);                                                // FOUND: output before commit
  FILE *stream = freopen("stream2", "w", fopen("/dev/null", "w"));   // FOUND: output before commit
  fputs("text", stream);
  fclose(freopen("/dev/null", "w", stream));                         // FOUND: output before commit
  unlink("none");
  close(here);
}

static void tell_processes(pid_t other, int event) {
  char *words[] = {"true", NULL}, *none[] = {NULL};
  pid_t started;
  kill(other, SIGCONT);                                              // FOUND: output before commit
  eventfd_write(event, 1); // FOUND: output before commit
  kill(other, 0);
  kill(getpid(), SIGCONT);
  system("true");                                                    // FOUND: output before commit
  if (posix_spawnp(&started, "true", NULL, NULL, words, none) == 0)  // FOUND: output before commit
    waitpid(started, NULL, 0);
  pclose(popen("true", "r"));                                        // FOUND: output before commit
}

static void tell_all(int file, const int *ends, pid_t other, int event) {
  give_bytes(file, ends);
  change_names(file);
  tell_processes(other, event);
}

int main(int argc, char **argv) {
  int event = eventfd(0, 0); // the child has it, too
  pid_t other = fork();
  if (other == 0)
    for (;;)
      pause();
  struct counter *c = CREATE(argv, struct counter);
  int ends[2], file = open("long", O_CREAT | O_RDWR, 0600);
  if (pipe(ends) || write(file, "before", 6) != 6)
    return 1;
  nvm_tx_begin(pool);
  c->value++;
#ifndef BUG
  nvm_tx_commit(pool);
#endif
  tell_all(file, ends, other, event);
#ifdef BUG
  nvm_tx_commit(pool);
#endif
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
  unlink("file");
  unlink("file5");
  unlink("third");
  unlink("pipe");
  unlink("pipe2");
  unlink("pipe3");
  unlink("stream2");
  return nvm_pool_close(pool);
}
