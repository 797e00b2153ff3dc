/* own_threads.h: threads that libnvmove itself runs. For the C library they are threads of the program, so the end
 * of the program's last one (pthread_exit) would not end the process.
 */
#pragma once

enum { NVMI_OWN_THREAD_LOOKS_MS = 500 };

/* One is there; one is about to end. So never more are counted than there are: a thread of the program would be
 * taken for one of them. */
void nvmi_own_thread_began(void);
void nvmi_own_thread_ends(void);
/* Called by each of them, without locks, every NVMI_OWN_THREAD_LOOKS_MS. Does what the C library would do if
 * they were not there: where only they are left the process exits with success. */
void nvmi_own_thread_looks(void);
/* In a forked child there are none. */
void nvmi_own_threads_in_child(void);
