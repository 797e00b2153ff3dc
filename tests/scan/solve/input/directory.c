// The state is a folder with a file for each object.
// Openers other than fopen: opendir, openat.
// Wrong: nothing; 'dirent' or 'listing' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct job { // CHECK: job [[@LINE]]
  char *name;
  size_t size;
  char *script;
  struct job *next;
};
struct listing {
  DIR *folder;
  int files;
};
static struct job *jobs;

static struct job *readJob(int folder, const char *name) {
  struct stat s;
  struct job *j;
  int fd = openat(folder, name, O_RDONLY);
  if (fd < 0 || fstat(fd, &s))
    return NULL;
  j = malloc(sizeof *j);
  j->name = strdup(name);
  j->size = s.st_size;
  j->script = malloc(j->size);
  read(fd, j->script, j->size);
  close(fd);
  return j;
}

int load(const char *path) {
  struct listing l = {opendir(path), 0};
  struct dirent *e;
  while ((e = readdir(l.folder))) {
    struct job *j = e->d_name[0] == '.' ? NULL : readJob(dirfd(l.folder), e->d_name);
    if (!j)
      continue;
    j->next = jobs;
    jobs = j;
    ++l.files;
  }
  closedir(l.folder);
  return l.files;
}
