/* sync.h: pools on an ordinary disk. The kernel's page cache is the cache, msync is the fence.
 *
 * Argument. The lemmas of docs/internals/crash-consistency.md ask three things of a domain. What was
 * stored and not fenced arrives or is lost, in any order, each line of 64 bytes as it was at some
 * moment: the kernel writes pages when it likes, and a disk writes sectors whole, of which a line is
 * a part. What a thread has flushed or streamed is durable behind its next fence: msync(MS_SYNC)
 * returns when all pages of its range that were changed before are on the disk, and the disk has
 * emptied its own cache. And no store is taken back later: a sync that fails ends the process
 * (below). So what holds in the domain `power` holds here.
 *
 * Synced file: one that is open in this domain. A sync is of the pages that a thread has flushed or
 * streamed since its last fence, or of the whole file. The pages that commits store in place are many,
 * and far apart: they are put behind (persist.h), and synced as a whole when a log switches. Group
 * commit: threads that ask for a sync while another one runs share the next one.
 *
 * A sync that failed leaves pages that the kernel takes for written; nobody can tell which. So nothing
 * goes on: the process ends by the fatal handler, before it has acknowledged what was to be synced.
 * Who opens the file next reads it from the disk (nvmi_sync_drop_cache).
 *
 * Delayed (NVMOVE_DURABLE): commits do not wait. What differs then is in delayed.h.
 */
#pragma once

#include "platform/persist.h"

#include <stdbool.h>

/* For pools of the domain disk. */
const struct nvmi_persist *nvmi_persist_disk(void);

/* From now on stores to `home`, or to `work` (the same file, mapped once more), belong to a synced
 * file of the number `index`, below NVMI_SYNCED_MAX. `path` and `fd` stay valid. Each of so many bytes.
 * What the page cache has of it is on the disk. */
enum { NVMI_SYNCED_MAX = 64 };
void nvmi_sync_add(unsigned index, char *home, char *work, size_t range, const char *path, int fd);
/* No thread stores there any more, and all is on the disk; a thread may still have a fence to make for it.
 * Another file's number: nothing. */
void nvmi_sync_remove(unsigned index, const char *home);

/* The number of the file that is mapped there, and where in it `at` lies; NVMI_SYNCED_MAX: none. */
unsigned nvmi_sync_number(const char *at, uint64_t *offset);
/* msync. Gives an errno; 0: it is on the disk. */
int nvmi_sync_bytes(char *start, size_t size);

/* From now on the file is delayed (delayed.h), which nobody else uses meanwhile. */
void nvmi_sync_delay(unsigned index);
/* Of such a file: the calling thread has put a record into the page cache. What else it has flushed is
 * fenced here. */
void nvmi_sync_recorded(unsigned index);
/* All records that were put into the page cache before the call are durable. Another file: nothing. */
void nvmi_sync_records(unsigned index);

/* In a child of fork, which has one thread, and the mappings or none of them. */
void nvmi_sync_in_child(bool has_mappings);

/* Of a file that nobody has mapped: what the page cache has, and the disk should have, is read anew. */
void nvmi_sync_drop_cache(int fd);

/* How many syncs there were, or of whole files: for tests and figures. */
uint64_t nvmi_sync_count(bool whole);
