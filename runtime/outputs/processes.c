/* processes.c: other processes that are started, get a signal or a message: see outputs.h. */
#define _GNU_SOURCE
#include "outputs/outputs.h"
#include "outputs/unwind.h"
#include "trace/trace_outputs.h"

#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

const char nvmi_outputs_processes = 1;

#define IS_DONE (result == 0)

OUTPUT(int, kill, (pid_t process, int number), (process, number),
       (IS_DONE && number && process != getpid()), NVMI_NOWHERE)
OUTPUT(int, killpg, (pid_t group, int number), (group, number), (IS_DONE && number), NVMI_NOWHERE)
OUTPUT(int, sigqueue, (pid_t process, int number, const union sigval value),
       (process, number, value), IS_DONE &&number &&process != getpid(), NVMI_NOWHERE)
OUTPUT(int, system, (const char *command), (command), (command && result != -1), NVMI_NOWHERE)
OUTPUT(FILE *, popen, (const char *command, const char *mode), (command, mode), result,
       NVMI_NOWHERE)
OUTPUT(int, posix_spawn,
       (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,
        const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment),
       (process, path, actions, attributes, arguments, environment), IS_DONE, NVMI_NOWHERE)
OUTPUT(int, posix_spawnp,
       (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,
        const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment),
       (process, path, actions, attributes, arguments, environment), IS_DONE, NVMI_NOWHERE)

/* Nothing comes behind one that succeeds: told before, if the file may be run. What a search in the
 * folders of PATH will find nobody looks at. */
static void end_before(struct nvmi_output *made, const char *path) {
  if (!strchr(path, '/') || access(path, X_OK) == 0)
    nvmi_output_end(made, NVMI_NOWHERE, NVMI_ANY_OFFSET, 0);
}

#define EXEC(name, parameters, arguments)                                                          \
  NVMI_INTERPOSE int name parameters {                                                             \
    BEGIN(made);                                                                                   \
    end_before(&made, path);                                                                       \
    return NEXT(name) arguments;                                                                   \
  }

EXEC(execve, (const char *path, char *const *words, char *const *environment),
     (path, words, environment))
EXEC(execv, (const char *path, char *const *words), (path, words))
EXEC(execvp, (const char *path, char *const *words), (path, words))
EXEC(execvpe, (const char *path, char *const *words, char *const *environment),
     (path, words, environment))

NVMI_INTERPOSE int fexecve(int fd, char *const *words, char *const *environment) {
  BEGIN(made);
  nvmi_output_end(&made, NVMI_NOWHERE, NVMI_ANY_OFFSET, 0);
  return NEXT(fexecve)(fd, words, environment);
}

/* The words up to the null, and what comes behind it, where `environment` is wanted. */
#define EXEC_LIST(name, other)                                                                     \
  NVMI_INTERPOSE int name(const char *path, const char *word, ...) {                               \
    BEGIN(made);                                                                                   \
    va_list list;                                                                                  \
    size_t count = 1;                                                                              \
    va_start(list, word);                                                                          \
    for (const char *each = word; each; each = va_arg(list, const char *))                         \
      count++;                                                                                     \
    va_end(list);                                                                                  \
    char *words[count + 1];                                                                        \
    words[0] = (char *)word;                                                                       \
    va_start(list, word);                                                                          \
    for (size_t i = 1; i < count; i++)                                                             \
      words[i] = va_arg(list, char *);                                                             \
    words[count] = NULL;                                                                           \
    end_before(&made, path);                                                                       \
    other                                                                                          \
  }

EXEC_LIST(execl, va_end(list); return NEXT(execv)(path, words);)
EXEC_LIST(execlp, va_end(list); return NEXT(execvp)(path, words);)
EXEC_LIST(execle, char *const *environment = va_arg(list, char *const *); va_end(list);
          return NEXT(execve)(path, words, environment);)

void __vsyslog_chk(int priority, int flag, const char *format, va_list list);
void __syslog_chk(int priority, int flag, const char *format, ...);

#define SYSLOG(name, parameters, print)                                                            \
  NVMI_INTERPOSE void name parameters {                                                            \
    BEGIN(made);                                                                                   \
    print;                                                                                         \
    nvmi_output_end(&made, NVMI_NOWHERE, NVMI_ANY_OFFSET, 0);                                      \
  }
#define WITH_LIST(print)                                                                           \
  va_list list;                                                                                    \
  va_start(list, format);                                                                          \
  print;                                                                                           \
  va_end(list)

SYSLOG(vsyslog, (int priority, const char *format, va_list list),
       NEXT(vsyslog)(priority, format, list))
SYSLOG(__vsyslog_chk, (int priority, int flag, const char *format, va_list list),
       NEXT(__vsyslog_chk)(priority, flag, format, list))
SYSLOG(syslog, (int priority, const char *format, ...),
       WITH_LIST(NEXT(vsyslog)(priority, format, list)))
SYSLOG(__syslog_chk, (int priority, int flag, const char *format, ...),
       WITH_LIST(NEXT(__vsyslog_chk)(priority, flag, format, list)))
