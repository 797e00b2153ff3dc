/* disk.h: the file system's part in a pool's life, with failures in nvmove's words. All give 0, or
 * -1 with the failure recorded. */
#pragma once

#include "base/basics.h"

#include <signal.h>
#include <sys/types.h>

/* Records what errno says of `what`, and what helps. */
int nvmi_disk_fail(const char *path, const char *what);

/* Opens a file that may be locked; for nvmi_own_file_close(). What is none (a folder, a device) is
 * refused, and nobody waits at a pipe until it is written to. -1: recorded. */
int nvmi_disk_open(const char *path, int flags);

/* Reads on where the kernel gives a part, as before a page that cannot be read. Gives the bytes read,
 * fewer only where the file ends; -1: errno says why. */
ssize_t nvmi_disk_read(int fd, void *to, size_t size, uint64_t offset);

/* Whether a descriptor of nvmi_disk_open or nvmi_own_file_open still is that file's. */
int nvmi_disk_stands(const char *path, int fd);

/* A new file, opened by `open_by` with `mode`; nameless until it is whole. Where the file system has
 * no such files, `name` becomes its name, which no other file has; else "". -1: recorded. */
int nvmi_disk_open_new(const char *path, const char *folder,
                       int (*open_by)(const char *path, int flags, mode_t mode), mode_t mode,
                       char *name, size_t room);
/* Lets those read and write the file who may do so with the file `like`, as far as the caller can:
 * nobody else, and at the least its owner. */
void nvmi_disk_share_as(int fd, int like);

/* While a file is made longer: beyond `ulimit -f` that fails with EFBIG, and the signal that comes
 * with it does not end the process. One that the program itself has pending stays. errno, too. */
struct nvmi_size_limit {
  sigset_t before;
  bool was_pending;
};
void nvmi_size_limit_hold(struct nvmi_size_limit *hold);
void nvmi_size_limit_release(const struct nvmi_size_limit *hold);

/* How patient the caller is, in huge pages. */
enum nvmi_patience {
  NVMI_PATIENCE_GROW = 16,  /* a store of the program's waits */
  NVMI_PATIENCE_MAKE = 512, /* nothing goes on yet, and what is given now serves for long */
};
/* Blocks on the disk for bytes that the header will speak of: a full disk shows here, not as
 * SIGBUS. */
int nvmi_disk_allocate(const char *path, int fd, uint64_t offset, uint64_t size,
                       enum nvmi_patience patience);
/* The same for holes there within a file, as a copy by cp(1) has them where the pool is zero. */
int nvmi_disk_fill(const char *path, int fd, uint64_t offset, uint64_t size);
/* What a huge page of a file in DRAM may cost on the average, in ns. The caller waits for as long
 * as all of them may cost, and its patience; what is not huge then stays small. Set by tests alone,
 * whose machine may be slow. */
extern uint64_t nvmi_huge_page_ns;

/* Gives up what the file has behind so many bytes. */
int nvmi_disk_cut(const char *path, int fd, uint64_t size);

/* Brings a file or folder to the disk; not every file system can do this to a folder. */
int nvmi_disk_sync(const char *path, int fd);
