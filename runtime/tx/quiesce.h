/* quiesce.h: a moment in which nobody writes to a pool's file, for a backup.
 *
 * Gate: shut, nobody may begin to write: notes and ends of transactions look at it after they have
 * said that they are at work (`busy`). Quiesced: it is shut, nobody is at work, and the locks under
 * which everything else is written are held. What threads store meanwhile are bytes that they noted
 * before, whose old content the log has, or fresh ones, which are nobody's before a commit.
 *
 * Another process asks by a word in the file, which every commit looks at when it is done: the
 * thread that sees it quiesces the pool, answers, and waits until the word is taken back. Who asks
 * holds a lock on a byte of the file, which the kernel gives away when that process dies: then
 * nobody asks any more. One that lives and does nothing is waited for QUIESCED_SECONDS_MAX; it learns
 * from the word of the answer, which does not stay, that its copy is none.
 */
#pragma once

#include "core/thread.h"

/* 0, and nvmi_thaw has to follow; -1: recorded. Not within a section that is at work. */
int nvmi_quiesce(struct nvm_pool *pool);
void nvmi_thaw(struct nvm_pool *pool);

static inline struct nvm_backup_words *nvmi_backup_words(const struct nvm_pool *pool) {
  return (struct nvm_backup_words *)(pool->home + NVM_BACKUP_OFFSET);
}

/* Somebody asks. Not in a child of fork, which has no file. */
static inline bool nvmi_backup_asked(const struct nvm_pool *pool) {
  return __atomic_load_n(&nvmi_backup_words(pool)->asked, __ATOMIC_RELAXED);
}

/* In a child of fork: no other thread answers. */
void nvmi_quiesce_forget(void);

/* Answers for the pools with these numbers (bits), in which a transaction of the thread has ended.
 * A thread that ends another's, or that others wait for, leaves it to the next commit. */
void nvmi_backup_answer(const struct nvmi_thread *thread, uint64_t pools);
