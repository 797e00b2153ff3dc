/* domain.c: detection of the durability domain.
 *
 * The kernel is asked: only a file on persistent memory (DAX) can be mapped with MAP_SYNC. It is
 * what libpmem2 asks, too; its own detection is not used: on the way it changes the process's
 * folder, and it may not be called while the process exits. PMEM2_FORCE_GRANULARITY is honoured as
 * there. Any other file lies on a disk, unless its file system keeps nothing when the machine ends. Nothing is silently weaker: a domain that the file does not have can be forced, and says
 * so.
 */
#define _GNU_SOURCE
#include "platform/domain.h"

#include "base/basics.h"
#include "base/own_files.h"
#include "base/settings.h"

#include <linux/magic.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/vfs.h>

/* The file systems that keep nothing when the machine ends. */
static bool lies_in_memory(int fd) {
  struct statfs status;
  return fstatfs(fd, &status) == 0 &&
         (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC ||
          status.f_type == HUGETLBFS_MAGIC);
}

static bool maps_synchronously(int fd) {
  void *page = nvmi_own_map(NULL, 4096, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  if (page == MAP_FAILED)
    return false;
  munmap(page, 4096);
  return true;
}

static bool is_granularity(const char *said, const char *name, const char *as_well) {
  return said && (strcasecmp(said, name) == 0 || strcasecmp(said, as_well) == 0);
}

/* What the environment asks for, by our variable or else by libpmem2's. */
static enum nvm_domain forced(enum nvm_domain found) {
  const char *granularity = nvmi_setting("PMEM2_FORCE_GRANULARITY");
  if (nvmi_setting_is("NVMOVE_DOMAIN", "power"))
    return NVM_DOMAIN_POWER;
  if (nvmi_setting_is("NVMOVE_DOMAIN", "disk"))
    return NVM_DOMAIN_DISK;
  if (nvmi_setting_is("NVMOVE_DOMAIN", "process") || is_granularity(granularity, "page", "page"))
    return NVM_DOMAIN_PROCESS;
  if (is_granularity(granularity, "byte", "byte") ||
      is_granularity(granularity, "cache_line", "cacheline"))
    return NVM_DOMAIN_POWER;
  return found;
}

const char *nvmi_domain_name(uint32_t domain) {
  return domain == NVM_DOMAIN_POWER ? "power" : domain == NVM_DOMAIN_DISK ? "disk" : "process";
}

enum nvm_domain nvmi_domain_of(const char *path, int fd) {
  enum nvm_domain found = maps_synchronously(fd) ? NVM_DOMAIN_POWER
                          : lies_in_memory(fd)   ? NVM_DOMAIN_PROCESS
                                                 : NVM_DOMAIN_DISK;
  enum nvm_domain chosen = forced(found);
  static bool told; /* a traced run is not for keeping */
  told = told || nvmi_setting("NVMOVE_TRACE");
  if (chosen == NVM_DOMAIN_DISK && !told && lies_in_memory(fd)) {
    told = true;
    nvmi_tell(
        "nvmove: %s: the disk domain is chosen for a file in memory (tmpfs): worth nothing in a "
        "power failure\n",
        path);
  }
  if (chosen == NVM_DOMAIN_POWER && found != NVM_DOMAIN_POWER && !told) {
    told = true;
    nvmi_tell(
        "nvmove: %s: the power domain is forced on a file that is not persistent memory: good "
        "for measuring, worth nothing in a power failure\n",
        path);
  }
  return chosen;
}
