/* delayed.h: files on an ordinary disk whose commits do not wait (NVMOVE_DURABLE=MILLISECONDS, never).
 *
 * Problem. A commit that does not wait has its record in the page cache, and the kernel writes that
 * when it likes. What the commit stores in place must not come to the disk before the record, and the
 * kernel knows no order among pages. So what is stored in place stays out of the page cache: `home` is
 * a private mapping in DRAM. A second mapping, `file`, is the page cache.
 *
 * Record: goes to `file` at once, so it survives the death of the process. To bring: copy changed pages
 * of `home` aside; sync the file; then store the copies to `file`, and sync again. A copy shows only
 * stores whose records were in the page cache when it was made, and these are on the disk by the first
 * sync. One thread at a time brings (sync.c). A fence brings the pages that its thread has flushed,
 * a checkpoint all that have changed (docs/internals/crash-consistency.md, D1 to D5).
 *
 * Pages of the header and of the tables that no commit changes are not private: what is stored there is
 * in the page cache at once, and durable behind a fence.
 */
#pragma once

#include "format/layout.h"
#include "platform/pages.h"

/* Whether `home` has the page in DRAM: the root's, and all from the words of chunks on. */
static inline bool nvmi_page_is_private(uint64_t page) {
  return page == NVM_ROOT_OFFSET >> NVMI_PAGE_SHIFT || page >= NVM_CHUNKS_OFFSET >> NVMI_PAGE_SHIFT;
}

/* Persist functions of such files. */
const struct nvmi_persist *nvmi_persist_delayed(void);

/* The synced file of this number is one from now on: `home` is private where the pages are, `file` the
 * same bytes in the page cache. 0: no thread syncs; else one does, at most so many milliseconds behind a
 * record. -1: errno says why. */
int nvmi_delayed_start(unsigned index, char *home, char *file, size_t range, unsigned ms);
/* Before the file's number is taken back. Another file: nothing. */
void nvmi_delayed_stop(unsigned index);
/* In a child of fork, which has one thread; with the mappings (`goes_on`) or none of them. */
void nvmi_delayed_in_child(unsigned index, bool goes_on);

/* sync.c: what is asked for comes to the disk, all records in any case. Gives an errno. */
int nvmi_delayed_bring(unsigned index, const struct nvmi_demand *demand);
