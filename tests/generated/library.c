/* library.c: what programs call and nvmove-cc never saw: it is compiled by clang. library.unsafe
 * says what these functions write.
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

void ext_fill(void *to, unsigned long bytes, unsigned value);
void ext_touch(pthread_mutex_t *mutex);
uint64_t ext_mix(uint64_t a, uint64_t b);

void ext_fill(void *to, unsigned long bytes, unsigned value) {
  for (unsigned long i = 0; i < bytes; i++)
    ((unsigned char *)to)[i] = (unsigned char)(value + 5 * i);
}

/* Releases a lock inside: that of the caller's, taken again before it returns. */
void ext_touch(pthread_mutex_t *mutex) {
  pthread_mutex_unlock(mutex);
  pthread_mutex_lock(mutex);
}

uint64_t ext_mix(uint64_t a, uint64_t b) { return a * 31 + (b ^ (b >> 7)); }
