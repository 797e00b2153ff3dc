/* holes.c: see holes.h. */
#define _GNU_SOURCE
#include "base/holes.h"

#include <errno.h>
#include <unistd.h>

bool nvmi_next_data(int fd, uint64_t *from, uint64_t *end, uint64_t most) {
  if (*from >= most)
    return false;
  off_t data = lseek(fd, (off_t)*from, SEEK_DATA);
  if (data < 0 && errno == ENXIO)
    return false;
  off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
  *from = data < 0 ? *from : (uint64_t)data;
  *end = hole < 0 || (uint64_t)hole > most ? most : (uint64_t)hole;
  return *from < most;
}
