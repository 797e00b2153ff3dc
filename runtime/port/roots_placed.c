/* roots_placed.c: roots that lie in the pool: see roots.h.
 *
 * A root moves when the load is over: until then the program may have its address in a register, as
 * the load's own argument. Afterwards its memory in the program still has the old value, and who
 * kept an address would store there, to be lost with the process. So nobody may write there any
 * more (the plugin gives such a root pages of its own): the store ends the process, with a message.
 * Pointers to that memory which are themselves in the pool lead on to where the root lies: those of
 * the root when it moves, others when their transaction commits and its pointers are looked at.
 */
#define _GNU_SOURCE
#include "port/roots_placed.h"

#include "base/uncancelled.h"
#include "port/roots.h"
#include "port/roots_reset.h"

#include "core/map.h"
#include "core/tracing.h"
#include "port/port.h"
#include "types/types.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool lies_in(const struct nvm_root *root, uintptr_t address) {
  return address - (uintptr_t)root->address < root->size;
}

/* Only calls that are allowed in a signal handler. */
static void say(const struct nvm_root *root) {
  const char *parts[] = {"nvmove: root '", root->name,
                         "' lies in the pool since the load function; this store uses an address "
                         "of it from before, and would be lost\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    ssize_t written = NVMI_UNCANCELLED(write(STDERR_FILENO, parts[i], strlen(parts[i])));
    (void)written;
  }
}

/* The store is executed again and takes the default action. */
static void on_fault(int signal_number, siginfo_t *info, void *context) {
  (void)context;
  FOR_EACH_ROOT(root) {
    if (root->place && lies_in(root, (uintptr_t)info->si_addr))
      say(root);
  }
  signal(signal_number, SIG_DFL);
}

/* A program that handles SIGSEGV itself learns of it its own way. */
static void explain_faults(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  struct sigaction before;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGSEGV, NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) &&
      before.sa_handler == SIG_DFL)
    sigaction(SIGSEGV, &action, NULL);
}

/* Where pages are larger than the plugin's, or something else is among them, it stays writable. */
static void forbid(const struct nvm_root *root) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)root->address;
  if (start % page == 0 &&
      mprotect(root->address, (root->size + page - 1) / page * page, PROT_READ) == 0)
    explain_faults();
}

void nvmi_root_move(struct nvm_pool *pool, const struct nvm_root *root, char *value) {
  const struct nvm_type *type = nvmi_type_by_id(pool, root->type);
  for (size_t at = 0; type && type->size && at + type->size <= root->size; at += type->size)
    nvmi_reset_object(type, (char *)root->address + at, value + at);
  *root->place = value;
  forbid(root);
}

/* The same byte in the pool; null: no placed root that has moved has it. */
static char *moved(uintptr_t address) {
  FOR_EACH_ROOT(root) {
    if (root->place && *root->place != root->address && lies_in(root, address))
      return (char *)*root->place + (address - (uintptr_t)root->address);
  }
  return NULL;
}

bool nvmi_root_correct(struct nvm_pool *pool, uint64_t offset, uint64_t tag) {
  uint64_t word;
  memcpy(&word, pool->work + offset, sizeof word);
  char *there = moved(word & ~tag);
  if (!there || nvmi_pool_at(there) != pool)
    return false;
  word = (uint64_t)(uintptr_t)there | (word & tag);
  memcpy(pool->work + offset, &word, sizeof word);
  nvmi_trace_stored(pool->work + offset, sizeof word);
  return true;
}

/* Words that lead to placed roots, as the head of an empty list to itself, whatever their type. */
static void correct_all(struct nvm_pool *pool, const struct nvm_root *root) {
  uint64_t first = nvmi_offset(pool, *root->place);
  for (uint64_t at = 0; at + sizeof(uint64_t) <= root->size; at += sizeof(uint64_t))
    nvmi_root_correct(pool, first + at, 0);
}

int nvmi_roots_place(struct nvm_pool *pool) {
  FOR_EACH_ROOT(root) {
    if (!root->place)
      continue;
    char *value = nvm_alloc(pool, root->type, root->size);
    if (!value)
      return -1;
    nvmi_root_store(value, root->address, root->size);
    nvmi_root_move(pool, root, value);
  }
  FOR_EACH_ROOT(root) {
    if (root->place)
      correct_all(pool, root);
  }
  return 0;
}
