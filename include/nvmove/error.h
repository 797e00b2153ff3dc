/* error.h: what can go wrong with a pool, as codes that a program can act on.
 *
 * Every function of nvmove.h that fails leaves its code and a message for the calling thread; the
 * message names the pool's path, the cause and what to do. Codes keep their numbers.
 */
#ifndef NVMOVE_ERROR_H
#define NVMOVE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum nvm_error {
  NVM_OK = 0,
  NVM_ESYSTEM = 1,    /* a system call failed; errno tells which way */
  NVM_EARGUMENT = 2,  /* an argument makes no sense: null path, size below the smallest pool, ... */
  NVM_EMISSING = 3,   /* no such file */
  NVM_EEXISTS = 4,    /* create: the file is already there */
  NVM_EEMPTY = 5,     /* the file has no bytes */
  NVM_ETRUNCATED = 6, /* the file is shorter than its header says */
  NVM_EFOREIGN = 7,   /* not a pool of nvmove */
  NVM_EVERSION = 8,   /* written by a newer format than this library knows */
  NVM_ECORRUPT = 9,   /* a checksum or an invariant does not hold */
  NVM_EREADONLY = 10, /* the file cannot be written */
  NVM_EBUSY = 11,     /* another opener holds the pool */
  NVM_EADDRESS = 12,  /* the addresses the pool needs are taken */
  NVM_ENOSPACE = 13,  /* the disk is full */
  NVM_ENOMEMORY = 14, /* the pool has no room left, or DRAM is exhausted */
  NVM_ETOOLARGE = 15, /* an allocation that no state of this pool could hold */
  NVM_EPOINTER = 16,  /* not the address of a block of this pool */
  NVM_EDOUBLEFREE = 17, /* the block is free already */
  NVM_ENOTX = 18,       /* commit or abort without begin */
  NVM_EABORTED = 19,    /* an inner abort undid the transaction that was to commit */
  NVM_ECHILD = 20,      /* a forked child cannot change the parent's pool */
  NVM_EOPENTX = 21,     /* close: a transaction is still open */
  NVM_EUNSAFE = 22,     /* a pointer to DRAM or to another pool in persistent memory */
  NVM_ELIMIT = 23,      /* a documented limit: pools open at once, threads writing at once */
  NVM_EBROKEN =
      24, /* undone, because an open transaction whose lock it had taken over was undone */
  NVM_ELAYOUT = 25, /* the program lays out a type otherwise than the pool has it */
  NVM_ESTATIC = 26, /* the pool points to static data that the program does not have */
  NVM_EDEADLOCK =
      27, /* undone, because it and a transaction that it depends on waited for each other */
  NVM_EMETHOD = 28 /* a plain store to a pool whose method sees only stores that are calls */
};

/* The code of the calling thread's last failure; NVM_OK before the first. Success leaves it alone.
 */
enum nvm_error nvm_errno(void);

/* One line for people: "PATH: cause; hint". Valid until the thread's next failure. Never null. */
const char *nvm_strerror(void);

/* What a code stands for, without a pool: "the disk is full". Never null. */
const char *nvm_error_name(enum nvm_error code);

#ifdef __cplusplus
}
#endif

#endif
