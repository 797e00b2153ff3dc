/* domain.c: detection of the durability domain through libpmem2.
 *
 * libpmem2 knows DAX mappings, device DAX and persistent caches, and honours
 * PMEM2_FORCE_GRANULARITY. It is loaded when the first pool is opened, so a program that opens none
 * pays nothing; where it is missing the kernel is asked directly: only a DAX file can be mapped
 * with MAP_SYNC. Nothing is silently weaker: a domain that the file does not have can be forced,
 * and says so.
 */
#define _GNU_SOURCE
#include "platform/domain.h"

#include "base/own_locks.h"
#include "base/settings.h"

#include <dlfcn.h>
#include <libpmem2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool maps_synchronously(int fd) {
  void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  if (page == MAP_FAILED)
    return false;
  munmap(page, 4096);
  return true;
}

/* The entry points of libpmem2 that detection needs. */
struct pmem2 {
  __typeof__(&pmem2_config_new) config_new;
  __typeof__(&pmem2_config_delete) config_delete;
  __typeof__(&pmem2_config_set_required_store_granularity) require;
  __typeof__(&pmem2_config_set_length) set_length;
  __typeof__(&pmem2_source_from_fd) source_from_fd;
  __typeof__(&pmem2_source_delete) source_delete;
  __typeof__(&pmem2_map_new) map_new;
  __typeof__(&pmem2_map_delete) map_delete;
  __typeof__(&pmem2_map_get_store_granularity) granularity;
};

static bool load_pmem2(struct pmem2 *p) {
  void *library = dlopen("libpmem2.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
  struct {
    void *slot;
    const char *name;
  } wanted[] = {{&p->config_new, "pmem2_config_new"},
                {&p->config_delete, "pmem2_config_delete"},
                {&p->require, "pmem2_config_set_required_store_granularity"},
                {&p->set_length, "pmem2_config_set_length"},
                {&p->source_from_fd, "pmem2_source_from_fd"},
                {&p->source_delete, "pmem2_source_delete"},
                {&p->map_new, "pmem2_map_new"},
                {&p->map_delete, "pmem2_map_delete"},
                {&p->granularity, "pmem2_map_get_store_granularity"}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *symbol = dlsym(library, wanted[i].name);
    if (!symbol)
      return false;
    memcpy(wanted[i].slot, &symbol, sizeof symbol);
  }
  return true;
}

static enum nvm_domain ask(const struct pmem2 *p, int fd) {
  struct pmem2_config *config = NULL;
  struct pmem2_source *source = NULL;
  struct pmem2_map *map = NULL;
  enum nvm_domain domain = NVM_DOMAIN_PROCESS;
  if (p->config_new(&config) == 0 && p->require(config, PMEM2_GRANULARITY_PAGE) == 0 &&
      p->source_from_fd(&source, fd) == 0 && p->map_new(&map, config, source) == 0 &&
      p->granularity(map) != PMEM2_GRANULARITY_PAGE)
    domain = NVM_DOMAIN_POWER;
  if (map)
    p->map_delete(&map);
  if (source)
    p->source_delete(&source);
  if (config)
    p->config_delete(&config);
  return domain;
}

struct question {
  const struct pmem2 *p;
  int fd;
  enum nvm_domain domain;
};

/* The kernel alone, where the thread cannot have a folder of its own. */
static void *ask_in_thread(void *argument) {
  struct question *question = argument;
  if (unshare(CLONE_FS) == 0)
    question->domain = ask(question->p, question->fd);
  else if (maps_synchronously(question->fd))
    question->domain = NVM_DOMAIN_POWER;
  return NULL;
}

/* libpmem2 walks through sysfs by fchdir: into a folder that all threads of the process are in, but
 * for one that has left them. Signals are the program's. */
static enum nvm_domain ask_apart(const struct pmem2 *p, int fd) {
  struct question question = {p, fd, NVM_DOMAIN_PROCESS};
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = pthread_create(&thread, NULL, ask_in_thread, &question) == 0;
  if (is_started)
    pthread_join(thread, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!is_started && maps_synchronously(fd))
    return NVM_DOMAIN_POWER;
  return question.domain;
}

/* libpmem2 has a lock of its own, which a child of fork must not find held; and the loader: it is
 * asked once, without a lock, as it runs constructors, which may open pools. */
static enum nvm_domain detect(int fd) {
  static struct pmem2 known;
  static _Atomic bool is_known;
  struct pmem2 found;
  bool loads = !is_known;
  if (loads && !load_pmem2(&found))
    return maps_synchronously(fd) ? NVM_DOMAIN_POWER : NVM_DOMAIN_PROCESS;
  nvmi_lock(&nvmi_locks[NVMI_LOCK_DOMAIN]);
  if (loads)
    known = found;
  is_known = true;
  enum nvm_domain domain = ask_apart(&known, fd);
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_DOMAIN]);
  return domain;
}

void nvmi_domain_choose(struct nvm_pool *pool) {
  bool is_weakest = nvmi_setting_is("NVMOVE_DOMAIN", "process");
  enum nvm_domain found = is_weakest ? NVM_DOMAIN_PROCESS : detect(pool->fd), chosen = found;
  if (nvmi_setting_is("NVMOVE_DOMAIN", "power"))
    chosen = NVM_DOMAIN_POWER;
  static bool told; /* a traced run is not for keeping */
  told = told || nvmi_setting("NVMOVE_TRACE");
  if (chosen == NVM_DOMAIN_POWER && found != NVM_DOMAIN_POWER && !told) {
    told = true;
    fprintf(stderr,
            "nvmove: %s: the power domain is forced on a file that is not persistent memory: good "
            "for measuring, worth nothing in a power failure\n",
            pool->path);
  }
  pool->header.domain = chosen;
  pool->persist = chosen == NVM_DOMAIN_POWER ? nvmi_persist_power() : nvmi_persist_process();
}
