/* raw.h: --nvmove-trace=raw: what a program does that makes its data persistent by itself.
 *
 * Traced: the file of which stores, flushes and fences are written down (include/nvmove/trace.h,
 * NVM_TRACE_RAW): the one that NVMOVE_TRACE_FILE names, else the first regular file that is mapped
 * shared and was opened for writing. Mapping: memory of the process that is such a file's. View:
 * what the file holds as far as the trace knows. A store that leaves the view as it is is not
 * written down.
 *
 * Code compiled with the option tells of what it does (include/nvmove/abi_raw.def). What maps files
 * and synchronises them, and what libpmem and libpmem2 flush, is interposed, so that code from
 * elsewhere is seen as well. What such code stores is found where the line is flushed, or where a
 * call of it returns, by comparing with the view.
 *
 * Of libnvmove, which is not compiled so, the persist functions tell (raw_pool.c).
 *
 * What is not seen: stores through a private mapping or by write(2), until something is flushed
 * there; a child of fork; files beyond the first. All functions may be called by any thread and in
 * signal handlers, which wait while their thread is in here.
 */
#pragma once

#include "nvmove/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a library did, at the place that __nvm_raw_at told last, which is forgotten. */
void nvmi_raw_stored(const void *address, size_t size, bool streamed);
void nvmi_raw_flushed(const void *address, size_t size);
void nvmi_raw_fenced(void);
/* All that was stored there is durable. */
void nvmi_raw_synchronised(const void *address, size_t size);
/* Of the whole file: by fsync of it, or by syncfs or sync. */
enum nvmi_raw_extent { NVMI_RAW_FILE, NVMI_RAW_FILE_SYSTEM, NVMI_RAW_MACHINE };
void nvmi_raw_file_synchronised(int fd, enum nvmi_raw_extent extent);

/* Of mappings: raw_map.c interposes what makes and ends them. */
void nvmi_raw_mapped(void *at, size_t size, int fd, off_t offset);
/* The length of a file has changed. */
void nvmi_raw_resized(int fd);
/* They are no longer; gives where in the file `at` was, or UINT64_MAX: not in a mapping. */
uint64_t nvmi_raw_unmapped(const void *at, size_t size);
/* The file's bytes from `place` on are mapped there. */
void nvmi_raw_again(const void *at, size_t size, uint64_t place);

/* Without the lock: stores there that nobody told of are looked for. */
void nvmi_raw_forget_place(void); /* that __nvm_raw_at told last */
void nvmi_raw_look(const void *at, size_t size);
