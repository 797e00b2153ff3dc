/* own_files.c: see own_files.h. */
#include "base/own_files.h"

#include "base/own_locks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <unistd.h>

static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_FILES];

static atomic_int files[NVMI_OWN_FILES_MAX]; /* descriptor + 1; 0: none */

static atomic_int *slot_of(int file) {
  for (unsigned i = 0; i < NVMI_OWN_FILES_MAX; i++)
    if (files[i] == file)
      return &files[i];
  return NULL;
}

/* No fork between the two: the child would not know of the descriptor. */
int nvmi_own_file_open(const char *path, int flags, mode_t mode) {
  nvmi_lock(lock);
  atomic_int *slot = slot_of(0);
  int fd = slot ? open(path, flags | O_CLOEXEC, mode) : -1;
  int error = slot ? errno : EMFILE;
  if (fd >= 0)
    *slot = fd + 1;
  nvmi_unlock(lock);
  errno = error;
  return fd;
}

void nvmi_own_file_close(int fd) {
  nvmi_lock(lock);
  atomic_int *slot = slot_of(fd + 1);
  if (slot) { /* else this is a child's, and closed */
    flock(fd, LOCK_UN);
    *slot = 0;
    close(fd);
  }
  nvmi_unlock(lock);
}

void nvmi_own_files_forget(void) {
  for (unsigned i = 0; i < NVMI_OWN_FILES_MAX; i++)
    if (files[i])
      close(atomic_exchange(&files[i], 0) - 1);
}
