/* port.c: when a ported program's pool is opened, filled, attached, and left: see port.h. */
#define _GNU_SOURCE
#include "port/port.h"
#include "base/uncancelled.h"
#include "port/forgotten.h"
#include "port/roots.h"
#include "port/roots_placed.h"
#include "port/roots_reset.h"

#include "base/clock.h"
#include "base/settings.h"
#include "core/lines.h"
#include "nvmove/inspect.h"
#include "order/order.h"
#include "pool/events.h"
#include "tx/called.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_SIZE = 64 << 20, LOAD_SECONDS = 10 };

enum state {
  STATE_IDLE,     /* nobody asked for it yet */
  STATE_NONE,     /* the program runs without */
  STATE_KNOWN,    /* open, and it has the roots */
  STATE_STARTING, /* open, fresh, the start's transaction is open, too */
  STATE_LOADING,  /* the same, inside the load */
  STATE_ATTACHED
};

static struct {
  struct nvm_pool *pool;
  _Atomic enum state state;
  double load_began;
  const struct nvmi_thread *loader; /* who loads */
  const void *frame;     /* of the load function that began it; null: left without a return */
  _Atomic bool is_ended; /* some thread takes the data apart */
  const char *end;       /* the function of `end` that it entered */
  char folder[PATH_MAX];
} port;

static _Thread_local bool is_ender; /* this thread takes the data apart */
static _Thread_local bool goes_on;  /* and has allocated in the pool since */

/* A library that is loaded later finds in the program what it calls, as in tx/sites.c. */
__attribute__((used)) static const void *const for_libraries[] = {
    (const void *)__nvm_port_malloc, (const void *)__nvm_describe_roots};

/* A relative path means the folder in which the program was started. */
__attribute__((constructor)) static void remember_folder(void) {
  if (!getcwd(port.folder, sizeof port.folder))
    *port.folder = 0;
}

/* The program has done nothing yet that handlers at its exit would have to finish. */
static _Noreturn void refuse(const char *message) {
  NVMI_UNCANCELLED(fflush(NULL));
  nvmi_tell("nvmove: %s\n", message);
  _Exit(EXIT_FAILURE);
}

/* False: the program shall run without a pool. */
static bool find_path(char *path, size_t size) {
  const char *wish = nvmi_setting("NVMOVE_POOL");
  if (!wish)
    return false;
  bool joined = *wish != '/' && *port.folder;
  int length = snprintf(path, size, "%s%s%s", joined ? port.folder : "", joined ? "/" : "", wish);
  if (length < 0 || (size_t)length >= size)
    refuse("NVMOVE_POOL: the path is too long; choose a shorter one");
  return true;
}

static struct nvm_pool *open_or_create(const char *path) {
  const char *twice = nvmi_roots_ambiguous();
  if (twice) {
    char message[256];
    snprintf(message, sizeof message, "root '%s' of the port file: several sources define it",
             twice);
    refuse(message);
  }
  uint64_t size = nvmi_setting_number("NVMOVE_POOL_SIZE");
  struct nvm_pool *pool = access(path, F_OK) == 0
                              ? nvm_pool_open(path)
                              : nvm_pool_create(path, size ? size : DEFAULT_SIZE);
  if (!pool)
    refuse(nvm_strerror());
  if (nvm_pool_root(pool) && !nvmi_roots_present(pool)) {
    char message[PATH_MAX + 80];
    snprintf(message, sizeof message, "%s: the pool of another program: it has no roots of a port",
             path);
    refuse(message);
  }
  return pool;
}

static const char *load_names(void) {
  return __nvm_load_names ? __nvm_load_names : "of the port file";
}

/* Where the data are whole, but nothing is attached. A load may pass such points by itself. */
static void complain_at_point(void) {
  static _Atomic bool told;
  char message[PATH_MAX + 512];
  enum state state = port.state;
  if (port.pool->forked || state == STATE_ATTACHED)
    return;
  if (state != STATE_LOADING) {
    snprintf(message, sizeof message,
             "%s: a commit point was reached, and the load function %s was not entered: nothing "
             "that the program does would be kept; call it first, or name in 'load' of the port "
             "file the function that every start enters",
             port.pool->path, load_names());
    refuse(message);
  }
  if (nvmi_now() - port.load_began > LOAD_SECONDS && !atomic_exchange(&told, true))
    nvmi_tell("nvmove: %s: the load function %s has not returned for %d s, and commit points are "
              "passed: nothing is kept before it returns; name in 'load' a function that returns "
              "when the data are there\n",
              port.pool->path, load_names(), LOAD_SECONDS);
}

/* The program allocated in the pool, or wanted to, and ends without having it. */
static void complain_at_exit(void) {
  enum state state = port.state;
  if (port.pool->forked || state == STATE_ATTACHED)
    return;
  nvmi_tell("nvmove: %s: the load function %s was %s: nothing of what the program did is kept\n",
            port.pool->path, load_names(), state == STATE_LOADING ? "not left" : "not entered");
}

static enum state start_now(void) {
  char path[PATH_MAX];
  if (!find_path(path, sizeof path))
    return STATE_NONE;
  if (&__nvm_port_main && !__nvm_port_main.program)
    nvmi_tell("nvmove: %s\n", __nvm_port_main.message);
  atexit(complain_at_exit);
  port.pool = open_or_create(path);
  nvmi_port_unloaded = complain_at_point;
  if (nvmi_roots_present(port.pool))
    return STATE_KNOWN;
  if (nvm_tx_begin(port.pool))
    refuse(nvm_strerror());
  return STATE_STARTING;
}

/* Several threads may be the first to allocate. */
static enum state start(void) {
  nvmi_lock(&nvmi_locks[NVMI_LOCK_STARTING]);
  if (port.state == STATE_IDLE)
    port.state = start_now();
  enum state state = port.state;
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_STARTING]);
  return state;
}

static inline enum state started(void) {
  enum state state = atomic_load_explicit(&port.state, memory_order_acquire);
  return NVMI_LIKELY(state != STATE_IDLE) ? state : start();
}

struct nvm_pool *nvmi_port_pool(void) {
  enum state state = started();
  goes_on |= is_ender;
  return state < STATE_STARTING || port.pool->forked ? NULL : port.pool;
}

void nvmi_port_gave(void *block) {
  if (block && atomic_load_explicit(&port.state, memory_order_relaxed) == STATE_KNOWN)
    nvmi_roots_made(block);
}

void nvmi_port_says_child(const struct nvm_pool *pool) {
  static _Atomic bool told;
  if (!atomic_exchange(&told, true))
    nvmi_tell(
        "nvmove: %s: process %ld is a forked child: nothing of what it stores is kept; to go "
        "into the background call daemon(), or fork before the first allocation in the pool\n",
        pool->path, (long)getpid());
}

NVM_POOL *nvm_pool_attached(void) {
  return atomic_load(&port.state) == STATE_ATTACHED ? port.pool : NULL;
}

/* Without leaks of what the last process had not linked yet, when that is wanted at any price. */
static void collect(void) {
  struct nvm_collected collected;
  if (nvmi_setting_is("NVMOVE_COLLECT", "1") && nvm_pool_collect(port.pool, &collected))
    refuse(nvm_strerror());
}

/* What changed outside transactions until the end. What would have to wait for another thread is
 * left to the runtime's own end (events.c). */
static void commit_at_exit(void) {
  if (!port.pool->forked && !port.is_ended && !nvmi_order_waits(nvmi_thread_self()))
    __nvm_commit_point();
}

static void attached(void) {
  if (nvmi_roots_watch(port.pool))
    refuse(nvm_strerror());
  atexit(commit_at_exit);
  nvmi_port_unloaded = NULL;
  atomic_store_explicit(&port.state, STATE_ATTACHED, memory_order_release);
}

static void attach(void) {
  nvmi_roots_reset(port.pool);
  if (nvmi_roots_show(port.pool, NULL))
    refuse(nvm_strerror());
  attached();
  collect();
}

/* Control is in this frame of the thread: a load function below it was left by longjmp or an
 * exception, and the next that is entered begins anew. */
static void landed(const void *frame) {
  if (port.loader == nvmi_self && port.frame < frame && !nvmi_is_elsewhere((uintptr_t)port.frame))
    port.frame = NULL;
}

/* The data are as the last commit left them; what came since is undone by the next opening. */
static _Noreturn void refuse_to_go_on(const char *how) {
  char message[PATH_MAX + 512];
  snprintf(message, sizeof message,
           "%s: the program goes on after '%s' of 'end' in the port file (%s), and nothing of that "
           "would be kept; name there only functions with which the program ends",
           port.pool->path, port.end, how);
  refuse(message);
}

static void look_behind_end(void) {
  if (is_ender && goes_on)
    refuse_to_go_on("it has allocated data, and passes a commit point");
  if (!is_ender && nvmi_port_has_ended(nvmi_self) && nvmi_self->touched)
    refuse_to_go_on("another thread has entered it; the one that loaded has stored data since, and "
                    "commits");
}

bool nvmi_port_has_ended(const struct nvmi_thread *thread) {
  return port.is_ended && (is_ender || (thread->roots && thread->roots->saves));
}
bool nvmi_port_is_ended(void) { return port.is_ended; }
bool nvmi_port_owns(const struct nvm_pool *pool) { return pool == port.pool; }

/* The thread that loaded keeps nothing once another has entered such a function. Nor does who would have to wait for
 * what such a thread has stored: that is never committed. */
static void begin_the_end(void) {
  struct nvmi_thread *self = nvmi_thread_self();
  if (!port.is_ended || (!nvmi_port_has_ended(self) && !nvmi_order_waits(self))) {
    __nvm_commit_point();
    if (nvm_tx_begin(port.pool))
      refuse(nvm_strerror());
    return;
  }
  if (self->touched)
    nvmi_tell("nvmove: %s: another thread has entered a function of 'end' in the port file; what "
              "thread %d has stored "
              "since its last commit is undone\n",
              port.pool->path, self->id);
  self->begun++;
}

/* A transaction that nobody commits has all that comes now: the end of the process undoes it. */
void __nvm_port_ends(const char *Function) {
  if (port.state != STATE_ATTACHED || port.pool->forked || is_ender)
    return;
  int before = errno;
  if (nvmi_in_transaction(nvmi_thread_self())) {
    nvmi_tell("nvmove: %s: '%s' of 'end' in the port file was entered inside of a transaction, "
              "where the data may be half done; it has no effect\n",
              port.pool->path, Function);
    return;
  }
  begin_the_end();
  is_ender = true;
  if (!port.is_ended)
    port.end = Function;
  port.is_ended = true;
  nvmi_port_unloaded = look_behind_end;
  errno = before;
}

int __nvm_load_begin(void *Frame) {
  if (NVMI_UNLIKELY(is_ender))
    refuse_to_go_on("it loads again");
  switch (started()) {
  case STATE_KNOWN:
    attach();
    return 1;
  case STATE_STARTING:
    port.state = STATE_LOADING;
    port.load_began = nvmi_now();
    nvmi_forgotten_load_begins();
    port.loader = nvmi_thread_self();
    port.frame = Frame;
    nvmi_port_landed = landed;
    break;
  case STATE_LOADING:
    landed(Frame);
    if (port.loader == nvmi_self && !port.frame)
      port.frame = Frame;
    break;
  default:
    break;
  }
  return 0;
}

/* The caller's errno is that of the load. */
void __nvm_load_end(void *Frame) {
  if (port.state != STATE_LOADING || port.loader != nvmi_self || port.frame != Frame)
    return;
  int before = errno;
  nvmi_port_landed = NULL;
  nvmi_forgotten_load_ends(port.pool);
  if (nvmi_roots_place(port.pool) || nvmi_roots_enter(port.pool) || nvm_tx_commit(port.pool))
    refuse(nvm_strerror());
  attached();
  errno = before;
}

void __nvm_load_left(void *Frame) {
  if (port.state == STATE_LOADING && port.loader == nvmi_self && port.frame == Frame)
    port.frame = NULL;
}

/* Before the pool is needed for anything else: it is opened for this and closed again, since the
 * program may fork on its way to the load. */
void __nvm_roots_after(const char *Function) {
  char path[PATH_MAX];
  if (port.state != STATE_IDLE || !find_path(path, sizeof path) || access(path, F_OK))
    return;
  struct nvm_pool *pool = open_or_create(path);
  if ((nvmi_roots_present(pool) && nvmi_roots_show(pool, Function)) || nvm_pool_close(pool))
    refuse(nvm_strerror());
}

static const char *reason_against_fork(enum state state) {
  return state == STATE_ATTACHED
             ? "a child has a view of the pool only with method 'shadow'; NVMOVE_METHOD=shadow "
               "gives it a snapshot; to go into the background call daemon(), whose child has the "
               "pool"
             : "the program has not attached it yet, and a child could not; fork before the first "
               "allocation in the pool, or call daemon(), whose child has the pool";
}

int __nvm_port_fork(void) {
  enum state state = port.state;
  if (state == STATE_KNOWN || state == STATE_STARTING || state == STATE_LOADING ||
      (state == STATE_ATTACHED && !port.pool->forked && !port.pool->method->private_work)) {
    nvmi_tell("nvmove: %s: fork was refused: %s\n", port.pool->path, reason_against_fork(state));
    errno = ENOTSUP;
    return -1;
  }
  return fork();
}

int __nvm_port_daemon(int StayInFolder, int KeepFiles) {
  const struct nvm_pool *busy;
  int result = nvmi_daemon(StayInFolder, KeepFiles, &busy);
  if (busy)
    nvmi_tell(
        "nvmove: %s: daemon was refused: other threads use the pool, and the child would lack "
        "them; call it before they start\n",
        busy->path);
  return result;
}
