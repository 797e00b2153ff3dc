/* reached.c: which blocks of the runtime's code a test reaches (reached.py).
 *
 * Linked with objects that were compiled with -fsanitize-coverage=bb,trace-pc-guard. The file that
 * NVMOVE_TEST_REACHED names is shared by the test and its children, however these end: a byte for
 * each GRAIN bytes of the program's text, 1 where the mark of a block was reached.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRAIN = 4 };
extern const char __executable_start, etext;
static unsigned char *map;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("NVMOVE_TEST_REACHED");
  int fd = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
  size_t size = (size_t)(&etext - &__executable_start) / GRAIN + 1;
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
    return;
  void *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  map = made == MAP_FAILED ? NULL : made;
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *first, uint32_t *last) {
  (void)first, (void)last;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  (void)guard;
  if (map)
    map[((const char *)__builtin_return_address(0) - &__executable_start) / GRAIN] = 1;
}
