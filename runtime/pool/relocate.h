/* relocate.h: a pool moves to other addresses (Breeze, section IV.E, its Algorithm 1 done anew).
 *
 * Base: the address of file offset 0. A pool is mapped where its pointers hold if that is free,
 * else at another base, to which all of them are carried over while it is opened.
 *
 * Why a crash does no harm. Bases are multiples of the pool's span, a power of two: the addresses
 * of two bases are the same or have none in common. So the value of a pointer tells for which base
 * it was made, and carrying it over is idempotent: whoever finds it at the new base leaves it
 * alone. The header names the new base and, until all pointers have arrived, every former one
 * (`moved_from`), and is durable before the first pointer changes. After a crash each pointer is at
 * one of these bases, eight bytes being written whole; the next attempt, at whatever address, adds
 * the base of the interrupted one and carries over all again. Breeze needs a generation number in
 * each object and a transaction around it, since its old and new addresses may overlap; here
 * neither is needed, and nothing is logged.
 *
 * Nothing is guessed. A word that may be a number, and whose value lies in the pool's former
 * addresses, ends the attempt: what was carried over is carried back, and the open fails naming the
 * field.
 *
 * Why not lazily, when an object is first reached: a page could be protected until the program
 * touches it, but a system call that is given a pointer to it would fail with EFAULT instead of
 * waiting.
 */
#pragma once

#include "core/pool.h"
#include "format/address.h"

/* Carries all pointers of a recovered pool over to where it is mapped, `pool->work`; or finishes
 * what was interrupted. The logs are empty. -1: recorded; the pool is as it was before. */
int nvmi_relocate(struct nvm_pool *pool);
