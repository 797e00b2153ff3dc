/* outputs.c: bytes that go to a descriptor or a queue: see outputs.h. */
#define _GNU_SOURCE
#include "outputs/outputs.h"
#include "outputs/unwind.h"
#include "trace/trace_outputs.h"
#include "trace/trace_program.h"

#include "base/uncancelled.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern const char nvmi_outputs_names, nvmi_outputs_processes, nvmi_outputs_streams;
const void *const __nvm_outputs[] = {&nvmi_outputs_names, &nvmi_outputs_processes,
                                     &nvmi_outputs_streams}; /* what the link asks for */
bool nvmi_outputs_tell(void) { return true; }

/* A message of no bytes is one all the same, unless in a stream. */
static bool is_message(int socket) {
  int type = SOCK_STREAM;
  socklen_t size = sizeof type;
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type != SOCK_STREAM;
}

#define WRITE(name, parameters, arguments, at)                                                     \
  NVMI_INTERPOSE ssize_t name parameters {                                                         \
    BEGIN(made);                                                                                   \
    ssize_t result = NEXT(name) arguments;                                                         \
    if (result > 0)                                                                                \
      nvmi_output_end(&made, fd, at, (size_t)result);                                              \
    return result;                                                                                 \
  }

WRITE(write, (int fd, const void *bytes, size_t size), (fd, bytes, size), NVMI_BEHIND)
WRITE(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count), NVMI_BEHIND)
WRITE(pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at), at)
WRITE(pwrite64, (int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at), at)
WRITE(pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at), at)
WRITE(pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at),
      at)
WRITE(pwritev2, (int fd, const struct iovec *parts, int count, off_t at, int flags),
      (fd, parts, count, at, flags), at == -1 ? NVMI_BEHIND : at)
WRITE(pwritev64v2, (int fd, const struct iovec *parts, int count, off64_t at, int flags),
      (fd, parts, count, at, flags), at == -1 ? NVMI_BEHIND : at)
WRITE(sendfile, (int fd, int from, off_t *at, size_t size), (fd, from, at, size), NVMI_BEHIND)
WRITE(sendfile64, (int fd, int from, off64_t *at, size_t size), (fd, from, at, size), NVMI_BEHIND)
WRITE(copy_file_range,
      (int from, off64_t *from_at, int fd, off64_t *at, size_t size, unsigned flags),
      (from, from_at, fd, at, size, flags), at ? *at - result : NVMI_BEHIND)
WRITE(splice, (int from, off64_t *from_at, int fd, off64_t *at, size_t size, unsigned flags),
      (from, from_at, fd, at, size, flags), at ? *at - result : NVMI_BEHIND)
WRITE(tee, (int from, int fd, size_t size, unsigned flags), (from, fd, size, flags),
      NVMI_ANY_OFFSET)

/* No output: who has one is not alone (trace/trace_program.c). */
NVMI_INTERPOSE int socket(int family, int type, int protocol) {
  int result = NEXT(socket)(family, type, protocol), before = errno;
  if (result >= 0)
    nvmi_trace_socket();
  errno = before;
  return result;
}

#define IS_SENT(result) ((result) > 0 || ((result) == 0 && is_message(fd)))

OUTPUT(ssize_t, send, (int fd, const void *bytes, size_t size, int flags), (fd, bytes, size, flags),
       IS_SENT(result), fd)
OUTPUT(ssize_t, sendto,
       (int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to,
        socklen_t length),
       (fd, bytes, size, flags, to, length), IS_SENT(result), fd)
OUTPUT(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags),
       IS_SENT(result), fd)
OUTPUT(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
       (fd, messages, count, flags), result > 0, fd)

/* At the end of a pipe that is read it reads. */
OUTPUT(ssize_t, vmsplice, (int fd, const struct iovec *parts, size_t count, unsigned flags),
       (fd, parts, count, flags),
       result > 0 && (NVMI_UNCANCELLED(fcntl(fd, F_GETFL)) & O_ACCMODE) != O_RDONLY, fd)

OUTPUT(int, fsync, (int fd), (fd), result == 0, fd)
OUTPUT(int, fdatasync, (int fd), (fd), result == 0, fd)
OUTPUT(int, eventfd_write, (int fd, eventfd_t value), (fd, value), result == 0 && value, fd)
OUTPUT(int, aio_write, (struct aiocb * request), (request), result == 0, request->aio_fildes)
OUTPUT(int, aio_write64, (struct aiocb64 * request), (request), result == 0, request->aio_fildes)

static bool has_writes(struct aiocb *const *requests, int count) {
  for (int i = 0; i < count; i++)
    if (requests[i] && requests[i]->aio_lio_opcode == LIO_WRITE &&
        nvmi_trace_leaves(requests[i]->aio_fildes))
      return true;
  return false;
}

OUTPUT(int, lio_listio,
       (int mode, struct aiocb *const *requests, int count, struct sigevent *event),
       (mode, requests, count, event), result == 0 && has_writes(requests, count), NVMI_NOWHERE)
OUTPUT(int, lio_listio64,
       (int mode, struct aiocb64 *const *requests, int count, struct sigevent *event),
       (mode, requests, count, event),
       result == 0 && has_writes((struct aiocb *const *)requests, count), NVMI_NOWHERE)

/* Who waits for the semaphore goes on. */
static bool gives(const struct sembuf *steps, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (steps[i].sem_op > 0)
      return true;
  return false;
}

OUTPUT(int, semop, (int set, struct sembuf *steps, size_t count), (set, steps, count),
       result == 0 && gives(steps, count), NVMI_NOWHERE)
OUTPUT(int, semtimedop,
       (int set, struct sembuf *steps, size_t count, const struct timespec *longest),
       (set, steps, count, longest), result == 0 && gives(steps, count), NVMI_NOWHERE)

/* Its commands that change a semaphore take an array or a number, as wide as a pointer. */
NVMI_INTERPOSE int semctl(int set, int number, int command, ...) {
  va_list list;
  BEGIN(made);
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  int result = NEXT(semctl)(set, number, command, argument);
  if (result == 0 && (command == SETVAL || command == SETALL))
    nvmi_output_end(&made, NVMI_NOWHERE, NVMI_ANY_OFFSET, 0);
  return result;
}

OUTPUT(int, msgsnd, (int queue, const void *message, size_t size, int flags),
       (queue, message, size, flags), result == 0, NVMI_NOWHERE)
OUTPUT(int, mq_send, (mqd_t queue, const char *message, size_t size, unsigned priority),
       (queue, message, size, priority), result == 0, NVMI_NOWHERE)
OUTPUT(int, mq_timedsend,
       (mqd_t queue, const char *message, size_t size, unsigned priority,
        const struct timespec *until),
       (queue, message, size, priority, until), result == 0, NVMI_NOWHERE)
OUTPUT(int, vdprintf, (int fd, const char *format, va_list list), (fd, format, list), result > 0,
       fd)

/* What headers with _FORTIFY_SOURCE make of it: `flag` says how much is checked. */
int __vdprintf_chk(int fd, int flag, const char *format, va_list list);
int __dprintf_chk(int fd, int flag, const char *format, ...);
OUTPUT(int, __vdprintf_chk, (int fd, int flag, const char *format, va_list list),
       (fd, flag, format, list), result > 0, fd)

#define DPRINTF(name, parameters, print)                                                           \
  NVMI_INTERPOSE int name parameters {                                                             \
    va_list list;                                                                                  \
    BEGIN(made);                                                                                   \
    va_start(list, format);                                                                        \
    int result = print;                                                                            \
    va_end(list);                                                                                  \
    if (result > 0)                                                                                \
      nvmi_output_end(&made, fd, NVMI_BEHIND, (size_t)result);                                     \
    return result;                                                                                 \
  }

DPRINTF(dprintf, (int fd, const char *format, ...), NEXT(vdprintf)(fd, format, list))
DPRINTF(__dprintf_chk, (int fd, int flag, const char *format, ...),
        NEXT(__vdprintf_chk)(fd, flag, format, list))

/* System calls by number: the argument that is the descriptor, or NVMI_NOWHERE. */
static const struct {
  long number;
  int descriptor;
} calls[] = {
    {SYS_write, 0},
    {SYS_writev, 0},
    {SYS_pwrite64, 0},
    {SYS_pwritev, 0},
    {SYS_pwritev2, 0},
    {SYS_sendto, 0},
    {SYS_sendmsg, 0},
    {SYS_sendmmsg, 0},
    {SYS_sendfile, 0},
    {SYS_vmsplice, 0},
    {SYS_copy_file_range, 2},
    {SYS_splice, 2},
    {SYS_tee, 1},
    {SYS_fsync, 0},
    {SYS_fdatasync, 0},
    {SYS_msgsnd, NVMI_NOWHERE},
    {SYS_mq_timedsend, NVMI_NOWHERE},
    {SYS_renameat2, NVMI_NOWHERE},
    {SYS_unlinkat, NVMI_NOWHERE},
    {SYS_linkat, NVMI_NOWHERE},
    {SYS_symlinkat, NVMI_NOWHERE},
    {SYS_mkdirat, NVMI_NOWHERE},
#ifdef SYS_rename
    {SYS_rename, NVMI_NOWHERE},
    {SYS_renameat, NVMI_NOWHERE},
    {SYS_unlink, NVMI_NOWHERE},
    {SYS_rmdir, NVMI_NOWHERE},
    {SYS_link, NVMI_NOWHERE},
    {SYS_symlink, NVMI_NOWHERE},
    {SYS_mkdir, NVMI_NOWHERE},
#endif
};

static void end_by_number(struct nvmi_output *made, long number, const long *words, long result) {
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (calls[i].number != number)
      continue;
    int at = calls[i].descriptor;
    bool gives_none = at == NVMI_NOWHERE || number == SYS_fsync || number == SYS_fdatasync;
    if (gives_none ? result == 0 : result > 0)
      nvmi_output_end(made, at == NVMI_NOWHERE ? at : (int)words[at],
                      number == SYS_write      ? NVMI_BEHIND
                      : number == SYS_pwrite64 ? words[3]
                                               : NVMI_ANY_OFFSET,
                      result > 0 ? (size_t)result : 0);
  }
}

NVMI_INTERPOSE long syscall(long number, ...) {
  long words[6];
  va_list list;
  BEGIN(made);
  va_start(list, number);
  for (unsigned i = 0; i < 6; i++)
    words[i] = va_arg(list, long);
  va_end(list);
  long result = NEXT(syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  end_by_number(&made, number, words, result);
  return result;
}
