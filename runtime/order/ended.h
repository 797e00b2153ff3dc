/* ended.h: waits for another thread's transaction to end. */
#pragma once

#include <stdint.h>

/* A number that grows whenever a node has ended, is being undone, or has joined another. */
uint32_t nvmi_ends(void);
/* It grows, under order.c's mutex: who waits looks again. */
void nvmi_tell_end(void);
/* Between two looks: until the number is another one than `seen`, which was asked for before the first of them, and
 * not for long. What else ends a wait, as a lock that somebody wants, is not told of. `tries`: how often that was
 * already. No cancellation point. */
void nvmi_await_end(uint32_t seen, unsigned tries);
