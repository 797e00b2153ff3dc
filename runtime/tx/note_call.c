/* note_call.c: what functions that nobody instrumented are about to write.
 *
 * What such a function is told that it may write is often more than it will: a limit that is none,
 * or the length of an input of which a part is a string. What lies behind the block belongs to
 * others.
 */
#include "core/lines.h"
#include "core/map.h"
#include "core/watch.h"
#include "heap/heap.h"
#include "heap/heap_types.h"
#include "tx/called.h"

/* A signal handler may have interrupted who has the heap's lock: then the block is not looked for. */
static bool can_look(const struct nvm_pool *pool) {
  const struct nvmi_thread *thread = nvmi_self;
  return pool && !(thread && (thread->busy || thread->in_heap)) &&
         !nvmi_has_lock(&pool->heap->lock);
}

static size_t within_block(const void *address, size_t size) {
  struct nvm_pool *pool = size > NVM_LINE_SIZE ? nvmi_pool_at(address) : NULL;
  uint64_t room = can_look(pool) ? nvmi_heap_room(pool, address) : 0;
  if (pool && !room)
    room = pool->header.heap_offset + pool->header.heap_size - nvmi_offset(pool, address);
  return room && room < size ? room : size;
}

void __nvm_note_if_persistent(void *Address, size_t Size) {
  if ((uintptr_t)Address >> NVM_RANGE_SHIFT != NVM_RANGE_TAG)
    return;
  nvmi_watch_place(__builtin_return_address(0));
  __nvm_note(Address, within_block(Address, Size));
  nvmi_watch_place(NULL);
}

void __nvm_note_call(void *Address, size_t Size) {
  if ((uintptr_t)Address >> NVM_RANGE_SHIFT != NVM_RANGE_TAG || !Size)
    return;
  size_t size = within_block(Address, Size);
  nvmi_watch_place(__builtin_return_address(0));
  __nvm_note(Address, size);
  nvmi_watch_place(NULL);
  if (nvmi_self)
    nvmi_called_enter(nvmi_self, Address, size, __builtin_frame_address(0));
}
