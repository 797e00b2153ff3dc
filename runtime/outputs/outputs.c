/* outputs.c: functions of the C library through which something leaves the process, in front of the
 * library's own: what code that nothing instruments writes while a transaction is open is told to the
 * trace (NVMOVE_TRACE), with the calls that led there.
 *
 * An archive of its own (libnvmove_outputs.a), with which programs are linked that are built with
 * --nvmove-trace, and no others. Instrumented code tells of its own calls, with their places: those
 * are not told twice. The functions are weak: one that the program itself defines is the program's,
 * and is not seen.
 *
 * What it does not see: stdio's writes, which the C library makes by itself; system calls by
 * instruction; stores to shared memory; a static program.
 */
#define _GNU_SOURCE
#include "trace/trace.h"

#include <dlfcn.h>
#include <mqueue.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/msg.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

const char __nvm_outputs = 1; /* what the link asks for */

#define NVMI_INTERPOSE __attribute__((weak, visibility("default")))
enum { NOWHERE = -1 }; /* no descriptor */

#define TELL(descriptor) nvmi_traced_output(descriptor, __builtin_frame_address(0))

/* `function`, of the type of the one that is defined here. */
#define NEXT(function)                                                                             \
  ({                                                                                               \
    static __typeof__(function) *next;                                                             \
    __typeof__(function) *found = __atomic_load_n(&next, __ATOMIC_RELAXED);                        \
    if (!found) {                                                                                  \
      found = (__typeof__(function) *)dlsym(RTLD_NEXT, #function);                                 \
      __atomic_store_n(&next, found, __ATOMIC_RELAXED);                                            \
    }                                                                                              \
    found;                                                                                         \
  })

#define OUTPUT(result, name, parameters, descriptor, arguments)                                    \
  NVMI_INTERPOSE result name parameters {                                                          \
    TELL(descriptor);                                                                              \
    return NEXT(name) arguments;                                                                   \
  }

OUTPUT(ssize_t, write, (int fd, const void *bytes, size_t size), fd, (fd, bytes, size))
OUTPUT(ssize_t, writev, (int fd, const struct iovec *parts, int count), fd, (fd, parts, count))
OUTPUT(ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t at), fd,
       (fd, bytes, size, at))
OUTPUT(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off64_t at), fd,
       (fd, bytes, size, at))
OUTPUT(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), fd,
       (fd, parts, count, at))
OUTPUT(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), fd,
       (fd, parts, count, at))
OUTPUT(ssize_t, send, (int fd, const void *bytes, size_t size, int flags), fd,
       (fd, bytes, size, flags))
OUTPUT(ssize_t, sendto,
       (int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to,
        socklen_t length),
       fd, (fd, bytes, size, flags, to, length))
OUTPUT(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), fd,
       (fd, message, flags))
OUTPUT(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags), fd,
       (fd, messages, count, flags))
OUTPUT(ssize_t, sendfile, (int to, int from, off_t *at, size_t size), to, (to, from, at, size))
OUTPUT(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t size), to, (to, from, at, size))
OUTPUT(int, msgsnd, (int queue, const void *message, size_t size, int flags), NOWHERE,
       (queue, message, size, flags))
OUTPUT(int, mq_send, (mqd_t queue, const char *message, size_t size, unsigned priority), NOWHERE,
       (queue, message, size, priority))
OUTPUT(int, rename, (const char *from, const char *to), NOWHERE, (from, to))
OUTPUT(int, renameat, (int from_folder, const char *from, int to_folder, const char *to), NOWHERE,
       (from_folder, from, to_folder, to))
OUTPUT(int, renameat2,
       (int from_folder, const char *from, int to_folder, const char *to, unsigned flags), NOWHERE,
       (from_folder, from, to_folder, to, flags))
OUTPUT(int, vdprintf, (int fd, const char *format, va_list list), fd, (fd, format, list))

NVMI_INTERPOSE int dprintf(int fd, const char *format, ...) {
  va_list list;
  TELL(fd);
  va_start(list, format);
  int result = NEXT(vdprintf)(fd, format, list);
  va_end(list);
  return result;
}

static bool has_descriptor(long number) {
  return number == SYS_write || number == SYS_writev || number == SYS_pwrite64 ||
         number == SYS_pwritev || number == SYS_pwritev2 || number == SYS_sendto ||
         number == SYS_sendmsg || number == SYS_sendmmsg || number == SYS_sendfile;
}

static bool has_none(long number) {
  return number == SYS_msgsnd || number == SYS_mq_timedsend || number == SYS_rename ||
         number == SYS_renameat || number == SYS_renameat2;
}

NVMI_INTERPOSE long syscall(long number, ...) {
  long word[6];
  va_list list;
  va_start(list, number);
  for (unsigned i = 0; i < 6; i++)
    word[i] = va_arg(list, long);
  va_end(list);
  if (has_descriptor(number))
    TELL((int)word[0]);
  else if (has_none(number))
    TELL(NOWHERE);
  return NEXT(syscall)(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
