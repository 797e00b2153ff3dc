/* pointers_safe.h: unsafe pointers in what a thread has open, in several pools or before its end. */
#pragma once

#include "core/thread.h"

/* What is unsafe in one of these pools (bits) is committed in none: NVM_EUNSAFE. `all`: how many of
 * the thread's lines are looked at. */
enum nvm_error nvmi_pointers_check_all(struct nvmi_thread *thread, uint64_t touched, size_t all);
/* Whether nothing that the thread has open in these pools (bits) is an unsafe pointer. */
bool nvmi_pointers_are_safe(struct nvmi_thread *thread, uint64_t pools);
/* The same of what it has stored since the last look, at a release: of the thread's lines those from
 * number `*judged` on. A line that may hold a pointer leaves the table: what is stored there from
 * here on is noted, and listed, once more. `*judged`: how many lines there are now. */
bool nvmi_pointers_released_are_safe(struct nvmi_thread *thread, uint64_t pools, size_t *judged);
