/* disk.c: see disk.h. */
#define _GNU_SOURCE
#include "platform/disk.h"
#include "base/uncancelled.h"

#include "base/clock.h"
#include "base/own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

static enum nvm_error code_of(int error_number) {
  switch (error_number) {
  case ENOENT:
  case ENOTDIR:
    return NVM_EMISSING;
  case EEXIST:
    return NVM_EEXISTS;
  case EACCES:
  case EPERM:
  case EROFS:
    return NVM_EREADONLY;
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
    return NVM_ENOSPACE;
  case EISDIR:
    return NVM_EFOREIGN;
  default:
    return NVM_ESYSTEM;
  }
}

static const char *hint_of(int error_number) {
  switch (error_number) {
  case ENOENT:
  case ENOTDIR:
    return "check the path, its folder has to be there";
  case EISDIR:
  case ELOOP:
  case ENAMETOOLONG:
    return "check the path";
  case EEXIST:
    return "choose another path, or remove it first";
  case EROFS:
    return "mount its file system for writing, or choose another place";
  case EACCES:
  case EPERM:
    return "let this user read and write there (chmod, chown)";
  case ENOSPC:
    return "free some space";
  case EFBIG:
    return "raise 'ulimit -f', or make it smaller";
  case EDQUOT:
    return "free some space, or have the quota raised";
  case EMFILE:
  case ENFILE:
    return "close some files, or raise 'ulimit -n'";
  case ENOMEM:
    return "free some memory, or raise 'ulimit -v'";
  case EINTR:
  case EAGAIN:
    return "try again";
  default:
    return "look into the kernel's log (dmesg)";
  }
}

int nvmi_disk_fail(const char *path, const char *what) {
  int number = errno;
  return nvmi_fail(code_of(number), path, "%s: %s; %s", what, strerror(number), hint_of(number));
}

int nvmi_disk_stands(const char *path, int fd) {
  if (nvmi_own_file_stands(fd))
    return 0;
  return nvmi_fail(NVM_ESYSTEM, path,
                   "the program has closed descriptor %d, by which the pool is open; close only "
                   "descriptors that the program itself has opened",
                   fd);
}

int nvmi_disk_open(const char *path, int flags) {
  struct stat status;
  int fd = nvmi_own_file_open(path, flags | O_NONBLOCK, 0);
  if (fd < 0 || fstat(fd, &status)) {
    nvmi_disk_fail(path, "cannot be opened");
  } else if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    nvmi_disk_fail(path, "cannot be opened");
  } else if (!S_ISREG(status.st_mode)) {
    nvmi_fail(NVM_EFOREIGN, path, "not a regular file; check the path");
  } else {
    return fd;
  }
  if (fd >= 0)
    nvmi_own_file_close(fd);
  return -1;
}

ssize_t nvmi_disk_read(int fd, void *to, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    ssize_t got =
        NVMI_UNCANCELLED(pread(fd, (char *)to + done, size - done, (off_t)(offset + done)));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

int nvmi_disk_open_new(const char *path, const char *folder,
                       int (*open_by)(const char *path, int flags, mode_t mode), mode_t mode,
                       char *name, size_t room) {
  enum { NAMES = 1000 }; /* a process of the same number may have died, and left one */
  *name = 0;
  int fd = open_by(folder, O_TMPFILE | O_RDWR, mode);
  bool has_nameless = fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR);
  for (unsigned n = 0; !has_nameless && fd < 0 && n < NAMES; n++) {
    snprintf(name, room, "%s.%ld.%u.new", path, (long)getpid(), n);
    fd = open_by(name, O_RDWR | O_CREAT | O_EXCL, mode);
    if (fd < 0 && errno != EEXIST)
      break;
  }
  if (fd >= 0)
    return fd;
  *name = 0; /* it is another's */
  return nvmi_disk_fail(path, "cannot be created");
}

/* To those of another group the file's group is as all others. What fails (a file system without
 * owners or modes) leaves less than was asked for. */
void nvmi_disk_share_as(int fd, int like) {
  struct stat status;
  if (fstat(like, &status))
    return;
  mode_t mode = status.st_mode & 0777;
  if (fchown(fd, status.st_uid, status.st_gid) && fchown(fd, (uid_t)-1, status.st_gid))
    mode &= ~(mode_t)070 | (mode & 07) << 3;
  if (fchmod(fd, mode))
    return;
}

void nvmi_size_limit_hold(struct nvmi_size_limit *hold) {
  sigset_t limit, pending;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &hold->before);
  hold->was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void nvmi_size_limit_release(const struct nvmi_size_limit *hold) {
  int before = errno;
  sigset_t limit;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  if (!hold->was_pending)
    NVMI_UNCANCELLED(sigtimedwait(&limit, NULL, &(struct timespec){0, 0}));
  pthread_sigmask(SIG_SETMASK, &hold->before, NULL);
  errno = before;
}

/* Some times what the 512 small pages cost that a huge one spares; when the kernel has to move
 * others' pages first, a huge one costs more than that. */
uint64_t nvmi_huge_page_ns = 1000000;

/* The first page of each is asked for in small: a huge page is made around a page that is there. */
static bool is_made_huge(char *at) {
  return !madvise(at, 1, MADV_POPULATE_READ) && !madvise(at, NVMI_HUGE_PAGE, MADV_COLLAPSE);
}

static void collapse(int fd, uint64_t first, uint64_t last, enum nvmi_patience patience) {
  char *at = nvmi_reserve_aligned(last - first, PROT_NONE);
  if (!at)
    return;
  if (nvmi_own_map(at, last - first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                   (off_t)first) != MAP_FAILED) {
    uint64_t end = nvmi_now_ns() + (unsigned)patience * nvmi_huge_page_ns;
    for (uint64_t done = 0; done < last - first && nvmi_now_ns() <= end && is_made_huge(at + done);
         done += NVMI_HUGE_PAGE)
      end += nvmi_huge_page_ns;
  }
  munmap(at, last - first);
}

/* The pages of a file in DRAM huge, as DAX maps persistent memory, so that a store to a line that
 * is not in the cache walks fewer page tables. What the kernel does not give so, or too slowly,
 * comes page by page.
 * Crash before the rest is allocated: the file is longer than its header says, with holes there;
 * nobody looks behind that, and the next growth allocates them. Gives the file's size before, -1:
 * not known. */
static off_t ask_for_huge_pages(int fd, uint64_t start, uint64_t end, enum nvmi_patience patience) {
  uint64_t first = (start + NVMI_HUGE_PAGE - 1) & -(uint64_t)NVMI_HUGE_PAGE,
           last = end & -(uint64_t)NVMI_HUGE_PAGE;
  struct statfs system;
  struct stat file;
  if (fstat(fd, &file))
    return -1;
  if (first < last && fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC &&
      (file.st_size >= (off_t)last || ftruncate(fd, (off_t)last) == 0))
    collapse(fd, first, last, patience);
  return file.st_size;
}

static int allocate(const char *path, int fd, uint64_t offset, uint64_t size,
                    enum nvmi_patience patience) {
  off_t before = ask_for_huge_pages(fd, offset, offset + size, patience);
  int error;
  do {
    error = NVMI_UNCANCELLED(posix_fallocate(fd, (off_t)offset, (off_t)size));
  } while (error == EINTR);
  if (error == 0)
    return 0;
  bool is_long = before >= 0 && (uint64_t)before < offset + size && ftruncate(fd, before);
  errno = error;
  return nvmi_disk_fail(path, is_long ? "cannot allocate blocks on the disk, nor give back "
                                        "those that it had got"
                                      : "cannot allocate blocks on the disk");
}

/* Whether the file may change its size. One that was opened for reading alone is that of a copy. */
static int keeps_size(const char *path, int fd) {
  int flags = NVMI_UNCANCELLED(fcntl(fd, F_GETFL));
  if (nvmi_disk_stands(path, fd))
    return -1;
  if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY)
    return 0;
  return nvmi_fail(NVM_EREADONLY, path,
                   "a private copy (NVMOVE_OPEN=copy) keeps its size; make the file itself longer "
                   "before, or a longer copy of it ('nvmove pool resize')");
}

int nvmi_disk_allocate(const char *path, int fd, uint64_t offset, uint64_t size,
                       enum nvmi_patience patience) {
  struct nvmi_size_limit hold;
  if (keeps_size(path, fd))
    return -1;
  nvmi_size_limit_hold(&hold);
  int result = allocate(path, fd, offset, size, patience);
  nvmi_size_limit_release(&hold);
  return result;
}

/* A file system that cannot do it says so: that is not an error. */
int nvmi_disk_fill(const char *path, int fd, uint64_t offset, uint64_t size) {
  struct nvmi_size_limit hold;
  struct stat file;
  int result;
  if (fstat(fd, &file))
    return nvmi_disk_fail(path, "cannot be examined");
  if ((uint64_t)file.st_size <= offset)
    return 0;
  if ((uint64_t)file.st_size - offset < size)
    size = (uint64_t)file.st_size - offset;
  nvmi_size_limit_hold(&hold);
  do {
    result = NVMI_UNCANCELLED(fallocate(fd, 0, (off_t)offset, (off_t)size));
  } while (result && errno == EINTR);
  nvmi_size_limit_release(&hold);
  if (result && (errno == ENOSPC || errno == EDQUOT))
    return nvmi_disk_fail(
        path, "cannot allocate blocks on the disk for holes of the file (a sparse copy)");
  return 0;
}

int nvmi_disk_cut(const char *path, int fd, uint64_t size) {
  struct stat file;
  if (keeps_size(path, fd))
    return -1;
  if (fstat(fd, &file) || (file.st_size > (off_t)size && ftruncate(fd, (off_t)size)))
    return nvmi_disk_fail(path, "the end of the file cannot be given back");
  return 0;
}

int nvmi_disk_sync(const char *path, int fd) {
  int failed;
  do {
    failed = NVMI_UNCANCELLED(fsync(fd));
  } while (failed && errno == EINTR);
  if (!failed || errno == EINVAL || errno == ENOTSUP)
    return 0;
  return nvmi_disk_fail(path, "cannot be brought to the disk");
}
