/* tx.h: where transactions end. */
#pragma once

#include "core/thread.h"

/* Commits or aborts what a thread has open, in all pools. */
enum nvm_error nvmi_tx_finish(struct nvmi_thread *thread, bool commit);
/* The same for what lies outside transactions: before a new one starts. */
enum nvm_error nvmi_tx_finish_implicit(struct nvmi_thread *thread);
/* An atomic call, or several, are not open any more: commits, unless others are. Ends the process where that fails. */
void nvmi_tx_leave(struct nvmi_thread *thread);
/* Ends what is open; nobody else has to do with it, or all who have stand still. A commit that fails
 * is undone, but for one with a node: that stays open. `in_order`: the thread's node ends with it; else
 * one that a signal handler has just made is ended in order. */
enum nvm_error nvmi_tx_finish_alone(struct nvmi_thread *thread, bool commit, bool in_order);
