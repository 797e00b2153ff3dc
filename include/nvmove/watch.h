/* watch.h: for tools: what `nvmove stat` reads of a running process that uses libnvmove (docs/reference/stat.md).
 *
 * Each such process has one struct nvm_watch in its memory, which a tool finds by its first bytes and reads through
 * /proc/PID/mem. It says where the pools' counters are (struct nvm_stats): those are always counted. More is counted
 * (struct nvm_watched) while a tool has written 1 to the byte at `watches`; otherwise nothing of it takes time.
 */
#ifndef NVMOVE_WATCH_H
#define NVMOVE_WATCH_H

#include "nvmove/info.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVM_WATCH_MAGIC "nvmove: watch 1" /* with its end 16 bytes, at a multiple of 8 */

enum { NVM_WATCH_SITES = 4096 };

/* A place in the program that tells of stores. All zero: none. */
struct nvm_watched_site {
  uint64_t code; /* the address behind its call */
  uint64_t stores, bytes;
};

/* Over all threads and pools. */
struct nvm_watched {
  uint64_t begins;  /* of outermost transactions, explicit ones */
  uint64_t nested;  /* begins inside of others */
  uint64_t deepest; /* how many of them were one inside another; 1: none was nested */
  uint64_t stores,
      stored_bytes; /* of a transaction the first to each byte; of pre-compiled functions their ranges */
  uint64_t loads, loaded_bytes; /* those that compiled code announces: --nvmove-loads */
  uint64_t without_site;        /* stores for which `sites` has no room */
  struct nvm_watched_site sites[NVM_WATCH_SITES];
};

/* Of a pool, by its number: what a tool subtracts since it was told to reset. libnvmove does not look at it. */
struct nvm_watch_base {
  uint64_t generation; /* of the pool, nvm_info.generation; another one: nothing is subtracted */
  struct nvm_stats stats;
};

/* Addresses are those of the process. Offsets are in bytes. */
struct nvm_watch {
  char magic[16];
  uint32_t size;       /* of this */
  uint32_t stats_size; /* of struct nvm_stats */
  const void *pools;   /* an array of addresses of pools, null: none */
  uint32_t pool_count, base_size;
  uint8_t *watches;
  struct nvm_watched *watched;
  struct nvm_watch_base *bases;
  /* In a pool: its path (text); the address where it is mapped; that of its file, if it is another one (else null);
   * uint64_t generation; uint32_t domain (enum nvm_domain); the address of its method; bool: a child of fork has it;
   * unsigned: how many of the logs, an array of addresses, are there. */
  uint32_t path, home, file, generation, domain, method, forked, log_count, logs;
  uint32_t method_name; /* in a method: the address of a text */
  uint32_t log_stats;   /* in a log: struct nvm_stats */
};

#ifdef __cplusplus
}
#endif

#endif
