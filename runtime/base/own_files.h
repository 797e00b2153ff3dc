/* own_files.h: the runtime's descriptors, and mappings of pools' files.
 *
 * A descriptor of a pool's file has the pool's lock, and fork brings it over, as it does a mapping:
 * the lock would live as long as the child. So whoever opens or maps such a file does it here. The
 * child closes all such descriptors, those of pools that another thread is just opening, too, and
 * has none of the mappings. No fork comes in between, also none of a signal handler.
 *
 * The program may close a descriptor that it did not open, as daemons close all, and get its number
 * for a file of its own. So what changes a file by its descriptor asks before whether it still is
 * that file's.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { NVMI_OWN_FILES_MAX = 256 };

/* As open(), with O_CLOEXEC; for any file. Never descriptor 0, 1 or 2: what the program prints does
 * not go there where it has closed one of these. */
int nvmi_open(const char *path, int flags, mode_t mode);

/* The same for a file that holds a pool's lock. EMFILE: NVMI_OWN_FILES_MAX are open. */
int nvmi_own_file_open(const char *path, int flags, mode_t mode);
/* Whether the descriptor still is the one that was opened. */
bool nvmi_own_file_stands(int fd);
struct stat;
/* The same without a lock: whether the descriptor, which has this status, is one of these now. */
bool nvmi_own_file_is(int fd, const struct stat *status);
/* Whether one of them is open of this file. */
bool nvmi_own_file_has(dev_t device, ino_t inode);
/* Gives back the file's lock (flock), too, which a process that was started meanwhile may have.
 * Nothing, if it does not stand. */
void nvmi_own_file_close(int fd);

/* In a forked child. */
void nvmi_own_files_forget(void);

/* As mmap(); a child of fork does not have it. */
void *nvmi_own_map(void *at, size_t size, int protection, int flags, int fd, off_t offset);
