/* trace_file.h: the file that a trace is written to. All but nvmi_trace_file_open and nvmi_trace_file_is with the
 * trace's lock. */
#pragma once

#include "nvmove/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroed memory that is never given back; without any the process ends. */
void *nvmi_trace_reserve(size_t size);

/* False: another process has its trace there, and that now says that this one has a pool. */
bool nvmi_trace_file_open(const char *path);
/* Without the lock: whether what is written there is the trace. */
bool nvmi_trace_file_is(int descriptor);
bool nvmi_trace_file_is_open(void);
bool nvmi_trace_file_has(dev_t device, ino_t inode);
/* In a child of fork. */
void nvmi_trace_file_forget(void);
void nvmi_trace_file_discard(void);
/* The image of the file `from_fd`, which has these bytes where it is no hole. */
void nvmi_trace_image(int from_fd, const char *bytes, uint64_t size);
struct nvmi_method;
/* NVM_TRACE_APART and its like, by the method of the pool. */
uint32_t nvmi_trace_flags(const struct nvmi_method *method);
void nvmi_trace_start(uint32_t flags);
void nvmi_trace_put(unsigned thread, enum nvm_trace_kind kind, uint64_t place, uint64_t extra,
                    const void *payload, size_t size);
void nvmi_trace_put_pieces(unsigned thread, enum nvm_trace_kind kind, uint64_t place,
                           uint64_t extra, const char *payload, size_t size);
