/* own_files.c: see own_files.h. */
#define _GNU_SOURCE
#include "base/own_files.h"
#include "base/uncancelled.h"

#include "base/own_locks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_FILES];

static struct own_file {
  atomic_int number; /* the descriptor + 1; 0: none */
  dev_t device;
  ino_t inode;
} files[NVMI_OWN_FILES_MAX];

static struct own_file *find(int number) {
  for (unsigned i = 0; i < NVMI_OWN_FILES_MAX; i++)
    if (files[i].number == number)
      return &files[i];
  return NULL;
}

enum { LOW = STDERR_FILENO + 1 };

/* Takes the free ones of the numbers below LOW, so that nothing else gets them: to other threads
 * they are as good as closed. Gives how many. */
static unsigned take_low(int taken[LOW]) {
  unsigned count = 0;
  while (count < LOW) {
    int fd = NVMI_UNCANCELLED(open("/", O_PATH | O_CLOEXEC));
    if (fd >= LOW)
      NVMI_UNCANCELLED(close(fd));
    if (fd < 0 || fd >= LOW)
      break;
    taken[count++] = fd;
  }
  return count;
}

/* The program may have put a file of its own there. */
static void give_back(const int *taken, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    int flags = NVMI_UNCANCELLED(fcntl(taken[i], F_GETFL));
    if (flags >= 0 && flags & O_PATH)
      NVMI_UNCANCELLED(close(taken[i]));
  }
}

static int higher(int fd, int than) {
  int made = NVMI_UNCANCELLED(fcntl(fd, F_DUPFD_CLOEXEC, than + 1)), error = errno;
  NVMI_UNCANCELLED(close(fd));
  errno = error;
  return made;
}

int nvmi_open(const char *path, int flags, mode_t mode) {
  int taken[LOW];
  unsigned count = take_low(taken);
  int fd = NVMI_UNCANCELLED(open(path, flags | O_CLOEXEC, mode)), error = errno;
  give_back(taken, count);
  errno = error;
  return fd < 0 || fd >= LOW ? fd : higher(fd, STDERR_FILENO);
}

static int enter(struct own_file *file, int fd) {
  struct stat status;
  if (fd < 0)
    return fd;
  if (fstat(fd, &status)) {
    int error = errno;
    NVMI_UNCANCELLED(close(fd));
    errno = error;
    return -1;
  }
  file->device = status.st_dev;
  file->inode = status.st_ino;
  file->number = fd + 1;
  return fd;
}

int nvmi_own_file_open(const char *path, int flags, mode_t mode) {
  nvmi_lock(lock);
  struct own_file *file = find(0);
  int fd = file ? nvmi_open(path, flags, mode) : -1, error = file ? errno : EMFILE;
  while (fd >= 0 && find(fd + 1)) { /* the program has closed that one, and its pool may ask */
    fd = higher(fd, fd);
    error = errno;
  }
  if (fd >= 0) {
    fd = enter(file, fd);
    error = errno;
  }
  nvmi_unlock(lock);
  errno = error;
  return fd;
}

static bool stands(const struct own_file *file) {
  struct stat status;
  return fstat(file->number - 1, &status) == 0 && status.st_dev == file->device &&
         status.st_ino == file->inode;
}

bool nvmi_own_file_stands(int fd) {
  nvmi_lock(lock);
  const struct own_file *file = find(fd + 1);
  bool result = file && stands(file);
  nvmi_unlock(lock);
  return result;
}

bool nvmi_own_file_is(int fd, const struct stat *status) {
  const struct own_file *file = find(fd + 1);
  return file && file->device == status->st_dev && file->inode == status->st_ino;
}

bool nvmi_own_file_has(dev_t device, ino_t inode) {
  for (unsigned i = 0; i < NVMI_OWN_FILES_MAX; i++)
    if (files[i].number && files[i].device == device && files[i].inode == inode)
      return true;
  return false;
}

void nvmi_own_file_close(int fd) {
  nvmi_lock(lock);
  struct own_file *file = find(fd + 1);
  bool is_own = file && stands(file); /* else a child's, or the program's */
  if (file)
    file->number = 0;
  if (is_own) {
    flock(fd, LOCK_UN);
    NVMI_UNCANCELLED(close(fd));
  }
  nvmi_unlock(lock);
}

void nvmi_own_files_forget(void) {
  for (unsigned i = 0; i < NVMI_OWN_FILES_MAX; i++) {
    if (files[i].number && stands(&files[i]))
      NVMI_UNCANCELLED(close(files[i].number - 1));
    files[i].number = 0;
  }
}

void *nvmi_own_map(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  nvmi_lock(lock);
  void *mapped = mmap(at, size, protection, flags, fd, offset);
  int error = errno;
  if (mapped != MAP_FAILED)
    madvise(mapped, size, MADV_DONTFORK);
  nvmi_unlock(lock);
  errno = error;
  return mapped;
}
