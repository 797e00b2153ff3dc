/* redirected.h: whether the program's loads and stores come as calls (--nvmove-redirect).
 *
 * Then a pool may have a method that keeps new values elsewhere than in place. What such a program notes as well it
 * accesses in place, after the bytes were brought there (method.h, `settle`).
 */
#pragma once

#include <stdbool.h>

/* Whether some source of the program is compiled so. */
bool nvmi_is_redirected(void);
/* A source that is not; null: there is none. Valid until the process ends. No pool is opened with such a method where
 * others are redirected. A library may be loaded behind that: from then on what is stored goes in place at once. */
const char *nvmi_plain_source(void);
/* A pool is open with a method that keeps new values elsewhere. */
void nvmi_redirected_use(void);
