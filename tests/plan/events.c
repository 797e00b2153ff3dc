// A pointer that the kernel keeps comes back with an event: what is reached through it is what was registered.
//
// RUN: rm -rf %t && mkdir %t && cd %t && %plan --load load %s -- > port.yaml && FileCheck --input-file=port.yaml %s
// RUN: cd %t && %cc -O2 --nvmove-port=port.yaml %s -o events && printf 'one\ntwo\n' > lines
// RUN: cd %t && cat lines | env NVMOVE_METHOD=undo NVMOVE_POOL=%t/undo.pool ./events | FileCheck --check-prefix=FIRST %s
// RUN: cd %t && cat lines | env NVMOVE_METHOD=undo NVMOVE_POOL=%t/undo.pool ./events | FileCheck --check-prefix=AGAIN %s
// RUN: cd %t && cat lines | env NVMOVE_METHOD=shadow NVMOVE_POOL=%t/shadow.pool ./events | FileCheck --check-prefix=FIRST %s
// RUN: cd %t && cat lines | env NVMOVE_METHOD=shadow NVMOVE_POOL=%t/shadow.pool ./events | FileCheck --check-prefix=AGAIN %s
//
// CHECK: persistent:
// CHECK-DAG: - handle
// CHECK-DAG: - load
// CHECK: roots:
// CHECK: - {name: board}
// FIRST: , one
// FIRST-NEXT: one, two
// AGAIN: two, one
// AGAIN-NEXT: one, two
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
struct board { int size; char *last; };
struct session { int fd; struct board *shows; };
static struct board *board;

static void load(void) {
  FILE *f = fopen("board", "r");
  board = calloc(1, sizeof *board);
  if (f && fscanf(f, "%d", &board->size) != 1)
    board->size = 1;
}
static void answer(const char *before, const char *now) {
  printf("%s, %s\n", before, now);
  fflush(stdout);
}
static void handle(struct session *session, char *line) {
  struct board *shows = session->shows;
  char before[80];
  snprintf(before, sizeof before, "%s", shows->last ? shows->last : "");
  free(shows->last);
  shows->last = strdup(line);
  answer(before, line);
}
static void watch(int events, int fd, struct session *session) {
  struct epoll_event wanted = {.events = EPOLLIN, .data = {.ptr = session}};
  epoll_ctl(events, EPOLL_CTL_ADD, fd, &wanted);
}
int main(void) {
  load();
  int events = epoll_create1(0);
  struct session *session = malloc(sizeof *session);
  session->fd = STDIN_FILENO;
  session->shows = board;
  watch(events, STDIN_FILENO, session);
  for (;;) {
    struct epoll_event came[4];
    int count = epoll_wait(events, came, 4, -1);
    for (int i = 0; i < count; ++i) {
      struct session *of = came[i].data.ptr;
      char text[80];
      ssize_t size = read(of->fd, text, sizeof text - 1);
      if (size <= 0)
        return 0;
      text[size] = '\0';
      for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        handle(of, line);
    }
  }
}
