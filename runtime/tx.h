/* tx.h: the parts in which a transaction's end is written down (tx.c, tx_order.c). */
#pragma once

#include "internal.h"

/* tx.c: ends what is open; nobody else has to do with it, or all who have stand still. A commit
 * that fails is undone, but for one with a ticket: that stays open. */
enum nvm_error nvmi_tx_finish_alone(struct nvmi_thread *thread, bool commit);
/* tx.c: commits what is open outside transactions, and counts it. */
enum nvm_error nvmi_tx_commit_implicit(struct nvmi_thread *thread);
/* tx_order.c: the end of a transaction that others depend on, or that depends on others. */
enum nvm_error nvmi_tx_finish_in_order(struct nvmi_thread *thread, bool commit);
/* tx_order.c: what could not be committed stays open in these pools (bits): lines and all. */
void nvmi_tx_stay_open(struct nvmi_thread *thread, uint64_t pools);
/* tx_order.c: the end where a port's variables go with it (roots.h). */
enum nvm_error nvmi_tx_finish_with_roots(struct nvmi_thread *thread, bool commit);
