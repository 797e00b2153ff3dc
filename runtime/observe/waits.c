/* waits.c: calls that wait for something from outside, in front of the C library's: points.
 *
 * A read of a regular file is no point: so a program loads its data. It is one if the file is the
 * standard input, as of a program that takes its commands from a file.
 */
#define _GNU_SOURCE
#include "observe/observe.h"
#include "observe/stacks.h"
#include "observe/wrap.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define POINT() nvmi_observe_point(__builtin_frame_address(0))

static bool is_outside(int fd) {
  if (fd == STDIN_FILENO)
    return true;
  if (!nvmi_observe_is_on())
    return false;
  int before = errno;
  struct stat status;
  bool found = fstat(fd, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  errno = before;
  return found;
}

#define WAIT(type, name, parameters, arguments, is_point)                                          \
  FOUND(name)                                                                                      \
  NVMI_INTERPOSE type name parameters {                                                            \
    if (is_point)                                                                                  \
      POINT();                                                                                     \
    return NEXT(name) arguments;                                                                   \
  }
#define ALWAYS true
/* A thread that only sleeps keeps time, while others work. */
#define IS_FIRST nvmi_observe_is_first_thread(__builtin_frame_address(0))
#define OF_FD is_outside(fd)
#define OF_STREAM is_outside(fileno(stream))

WAIT(int, epoll_wait, (int fd, struct epoll_event *found, int count, int time),
     (fd, found, count, time), ALWAYS)
WAIT(int, epoll_pwait,
     (int fd, struct epoll_event *found, int count, int time, const sigset_t *mask),
     (fd, found, count, time, mask), ALWAYS)
WAIT(int, poll, (struct pollfd * of, nfds_t count, int time), (of, count, time), ALWAYS)
WAIT(int, ppoll,
     (struct pollfd * of, nfds_t count, const struct timespec *time, const sigset_t *mask),
     (of, count, time, mask), ALWAYS)
WAIT(int, select, (int count, fd_set *in, fd_set *out, fd_set *other, struct timeval *time),
     (count, in, out, other, time), ALWAYS)
WAIT(int, pselect,
     (int count, fd_set *in, fd_set *out, fd_set *other, const struct timespec *time,
      const sigset_t *mask),
     (count, in, out, other, time, mask), ALWAYS)
WAIT(int, accept, (int fd, struct sockaddr *from, socklen_t *size), (fd, from, size), ALWAYS)
WAIT(int, accept4, (int fd, struct sockaddr *from, socklen_t *size, int flags),
     (fd, from, size, flags), ALWAYS)
WAIT(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), OF_FD)
WAIT(ssize_t, readv, (int fd, const struct iovec *to, int count), (fd, to, count), OF_FD)
WAIT(ssize_t, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags), ALWAYS)
WAIT(ssize_t, recvfrom,
     (int fd, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *length),
     (fd, to, size, flags, from, length), ALWAYS)
WAIT(ssize_t, recvmsg, (int fd, struct msghdr *to, int flags), (fd, to, flags), ALWAYS)
WAIT(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left), IS_FIRST)
WAIT(int, usleep, (useconds_t time), (time), IS_FIRST)
WAIT(unsigned, sleep, (unsigned time), (time), IS_FIRST)
WAIT(int, pause, (void), (), ALWAYS)
WAIT(char *, fgets, (char *to, int size, FILE *stream), (to, size, stream), OF_STREAM)
WAIT(size_t, fread, (void *to, size_t size, size_t count, FILE *stream), (to, size, count, stream),
     OF_STREAM)
WAIT(int, fgetc, (FILE * stream), (stream), OF_STREAM)
WAIT(int, getc, (FILE * stream), (stream), OF_STREAM)
WAIT(int, getchar, (void), (), ALWAYS)
WAIT(int, fgetc_unlocked, (FILE * stream), (stream), OF_STREAM)
WAIT(int, getc_unlocked, (FILE * stream), (stream), OF_STREAM)
WAIT(int, getchar_unlocked, (void), (), ALWAYS)
WAIT(char *, fgets_unlocked, (char *to, int size, FILE *stream), (to, size, stream), OF_STREAM)
WAIT(wint_t, fgetwc, (FILE * stream), (stream), OF_STREAM)
WAIT(wchar_t *, fgetws, (wchar_t * to, int size, FILE *stream), (to, size, stream), OF_STREAM)
WAIT(int, sigwait, (const sigset_t *of, int *came), (of, came), ALWAYS)
WAIT(int, sigwaitinfo, (const sigset_t *of, siginfo_t *came), (of, came), ALWAYS)
WAIT(int, sigtimedwait, (const sigset_t *of, siginfo_t *came, const struct timespec *time),
     (of, came, time), ALWAYS)
WAIT(int, sigsuspend, (const sigset_t *of), (of), ALWAYS)

/* These allocate for their caller, too. */
#define READ_LINE(name, parameters, arguments)                                                     \
  FOUND(name)                                                                                      \
  NVMI_INTERPOSE ssize_t name parameters {                                                         \
    if (OF_STREAM)                                                                                 \
      POINT();                                                                                     \
    const void *outer = nvmi_observe_caller;                                                       \
    nvmi_observe_caller = outer ? outer : __builtin_frame_address(0);                              \
    ssize_t result = NEXT(name) arguments;                                                         \
    nvmi_observe_caller = outer;                                                                   \
    return result;                                                                                 \
  }
READ_LINE(getline, (char **to, size_t *size, FILE *stream), (to, size, stream))
READ_LINE(getdelim, (char **to, size_t *size, int end, FILE *stream), (to, size, end, stream))
/* What <stdio.h> makes of getline. */
ssize_t __getdelim(char **to, size_t *size, int end, FILE *stream);
READ_LINE(__getdelim, (char **to, size_t *size, int end, FILE *stream), (to, size, end, stream))

/* The same as _FORTIFY_SOURCE calls them; `room`: bytes that the caller knows of. */
#define CHECKED(type, name, parameters, arguments, is_point)                                       \
  type name parameters;                                                                            \
  WAIT(type, name, parameters, arguments, is_point)
CHECKED(char *, __fgets_chk, (char *to, size_t room, int size, FILE *stream),
        (to, room, size, stream), OF_STREAM)
CHECKED(size_t, __fread_chk, (void *to, size_t room, size_t size, size_t count, FILE *stream),
        (to, room, size, count, stream), OF_STREAM)
CHECKED(ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room),
        OF_FD)
CHECKED(ssize_t, __recv_chk, (int fd, void *to, size_t size, size_t room, int flags),
        (fd, to, size, room, flags), ALWAYS)
CHECKED(int, __poll_chk, (struct pollfd * of, nfds_t count, int time, size_t room),
        (of, count, time, room), ALWAYS)

/* scanf and fscanf by the names that <stdio.h> gives them. */
int __isoc99_vscanf(const char *format, va_list values);
FOUND(__isoc99_vscanf)
int __isoc99_scanf(const char *format, ...);
NVMI_INTERPOSE int __isoc99_scanf(const char *format, ...) {
  POINT();
  va_list values;
  va_start(values, format);
  int count = NEXT(__isoc99_vscanf)(format, values);
  va_end(values);
  return count;
}

int __isoc99_vfscanf(FILE *stream, const char *format, va_list values);
FOUND(__isoc99_vfscanf)
int __isoc99_fscanf(FILE *stream, const char *format, ...);
NVMI_INTERPOSE int __isoc99_fscanf(FILE *stream, const char *format, ...) {
  if (OF_STREAM)
    POINT();
  va_list values;
  va_start(values, format);
  int count = NEXT(__isoc99_vfscanf)(stream, format, values);
  va_end(values);
  return count;
}

/* Ends without destructors. */
#define END(name)                                                                                  \
  FOUND(name)                                                                                      \
  NVMI_INTERPOSE _Noreturn void name(int status) {                                                 \
    nvmi_observe_exit();                                                                           \
    NEXT(name)(status);                                                                            \
    __builtin_unreachable();                                                                       \
  }
END(_exit)
END(_Exit)
END(quick_exit)
