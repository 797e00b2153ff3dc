/* own_files.h: descriptors that a forked child must not keep.
 *
 * A descriptor of a pool's file has the pool's lock, and fork brings it over: the lock would live
 * as long as the child. So whoever opens such a file does it here. The child closes all of them,
 * those of pools that another thread is just opening, too.
 */
#pragma once

#include <sys/types.h>

enum { NVMI_OWN_FILES_MAX = 256 };

/* As open(); with O_CLOEXEC. EMFILE: NVMI_OWN_FILES_MAX are open. Not in a signal handler. */
int nvmi_own_file_open(const char *path, int flags, mode_t mode);

/* Gives back the file's lock (flock), too, which a process that was started meanwhile may have. */
void nvmi_own_file_close(int fd);

/* In a forked child. */
void nvmi_own_files_forget(void);
