/* trace.h: what a pool's file went through, as a program with NVMOVE_TRACE=FILE writes it down and
 * `nvmove crash` reads it.
 *
 * The file is a header, then records, each followed by `size` bytes of payload padded to 8. Places
 * are offsets in the pool's file. The image of the pool as it was when the trace began, before its
 * recovery or as the empty file that it was created in, lies beside it, in FILE.image. Records
 * stand in the order in which the runtime saw them; what two threads did at the same time may be
 * exchanged, what a lock or the runtime ordered is not. All values are little-endian.
 *
 * Where a record would begin words may be zero: they are skipped. A record is in the file when it
 * was made, whatever ends the process; without a CLOSED at the end nobody closed the pool.
 */
#ifndef NVMOVE_TRACE_H
#define NVMOVE_TRACE_H

#include <stdint.h>

#define NVM_TRACE_MAGIC UINT64_C(0x45434152544d564e) /* "NVMTRACE" */
#define NVM_TRACE_VERSION 7

enum nvm_trace_kind {
  /* place: size of the file. extra: address of its first byte. Payload: the pool's path and, of
   * a pool of libnvmove, "device:inode", each ended by a zero. Once. */
  NVM_TRACE_OPEN = 1,
  /* extra: number of a site: a place in the source and the calls that led to it. Payload: line and
   * column (uint32_t each), then "file", "field" and the callers' return addresses, the innermost
   * first, as "module+0xoffset"; each ended by a zero. Before the first record that names it.
   * place: 1 of code that nothing instruments, whose place is the first of these addresses. */
  NVM_TRACE_SITE,
  /* The program stored `size` bytes; extra: its site, 0 when not known. In a pool whose method
   * keeps the program's view apart (NVM_TRACE_APART) the file does not have them yet. */
  NVM_TRACE_STORE,
  /* The same bytes reach the file past the cache, in whole lines; pending until the fence. Entries
   * of the log are among them: on some processors they go through the cache, which tears them in
   * other places and leaves the same, for an entry that is torn is not there. */
  NVM_TRACE_STREAM,
  /* Bytes of one line (payload 64; extra: mask of bytes) reach the file; pending until the fence.
   */
  NVM_TRACE_LINE,
  /* These lines are flushed, with the contents that they have (payload); pending until the fence.
   */
  NVM_TRACE_FLUSH,
  /* What this thread streamed and flushed is durable; extra 1: what every other thread did
   * (membarrier).
   */
  NVM_TRACE_FENCE,
  /* The bytes are about to be stored, and covered. place, extra: how many. */
  NVM_TRACE_NOTE,
  NVM_TRACE_POINT, /* a commit point, no explicit transaction open: commits the thread's stores;
                      extra: 1 of a split point, 2 of the release of a lock, 3 of the end of a
                      transaction that has noted nothing */
  NVM_TRACE_BEGIN, /* an explicit transaction of this thread, over all pools; extra: site; 0: what
                      is left of one in which another was aborted, and which will be undone, too */
  NVM_TRACE_COMMITTING, /* all of it is stored; from now on a crash may find it committed; extra:
                           site of the commit */
  NVM_TRACE_COMMIT,     /* is durable; explicit, or of what was stored outside such */
  NVM_TRACE_ABORT,      /* extra: site of the abort, or of the commit that failed; 0: neither */
  /* The thread's transaction becomes part of another's; the one that adopts it. extra: a number. */
  NVM_TRACE_JOIN,
  NVM_TRACE_ADOPT,
  /* place, extra: bytes of a block that the open transaction allocated, freed. FREE may have a
   * payload: its site (uint64_t). */
  NVM_TRACE_ALLOC,
  NVM_TRACE_FREE,
  NVM_TRACE_GROW,     /* place: size of the file from now on */
  NVM_TRACE_UNSEEN,   /* bytes that differ from all that was traced: nothing noted or traced them;
                         extra: site of the call that did it, 0 when not known */
  NVM_TRACE_VOLATILE, /* the same in a field that is declared as volatile: nobody misses it */
  NVM_TRACE_OUTPUT, /* another process can learn of what the program has done (written, sent, renamed);
                       place: descriptor, or -1; extra: site */
  NVM_TRACE_RELEASE, /* place: address of a lock; extra: site. The thread has something open. */
  NVM_TRACE_ACQUIRE, /* place: address of a lock that an open transaction released */
  NVM_TRACE_POINTER, /* place, in a block of no type, was given a pointer that lies outside; extra:
                        site; payload: the pointer */
  NVM_TRACE_UNSAFE, /* place holds the pointer `extra`, which lies outside: no commit. Payload, where
                        the place has a type: the place in its block, the sizes of the block and of
                        the type (uint64_t each), its name, a zero, its members (nvmove/abi.h) */
  NVM_TRACE_OPENED,  /* creation or recovery is over; place: size of the file */
  NVM_TRACE_CLOSED,  /* all is in place; or the process ends */
  NVM_TRACE_REOPEN,  /* the pool was closed and is opened again; place: size of the file; extra:
                        address of its first byte */
  NVM_TRACE_CHANGED, /* bytes that somebody else changed in between */
  NVM_TRACE_OTHER, /* a pool was opened of which nothing is written down. Payload: its path, where it
                        is of the same process. place NVM_TRACE_OTHER_TOGETHER: a transaction that
                        changed it as well as the traced pool is about to commit; extra: site */
  NVM_TRACE_ASKED,   /* the program flushes the line of `place` itself; extra: site */
  NVM_TRACE_FULL,    /* the file is as long as it may be (NVMOVE_TRACE_MAX): nothing follows */
  NVM_TRACE_REFUSED, /* the opening that began with the last REOPEN has failed */
  NVM_TRACE_PART,    /* a record that was not finished when its process was killed */
  NVM_TRACE_ENDED,   /* extra: status with which the program ended, as wait() gives it; written by
                        nvmove crash */
  NVM_TRACE_SYNC,    /* all that was stored to these bytes is durable (clflush, msync, fsync).
                        extra: site. Payload: how many (uint64_t) */
  NVM_TRACE_FORKED,  /* the process has a child, of which nothing is written down */
  NVM_TRACE_SHARED, /* at the end of a pool the process has memory that it shares with others, and may
                        write to: the file that is the payload */
  NVM_TRACE_FAILED, /* a call that was to commit has failed; place: enum nvm_error; extra: its site */
  NVM_TRACE_HANDLER, /* a signal handler has begun a transaction, which it may not; extra: site */
  NVM_TRACE_UNTRACED, /* a source that was compiled by nvmove-cc, and not for a trace. Payload: its name */
  NVM_TRACE_SOCKET /* the program has made a socket. Once */
};

#define NVM_TRACE_OTHER_TOGETHER 1

/* nvm_trace_header.flags. RAW: of a program that flushes and fences by itself, in a file that may be
 * no pool (nvmove-cc --nvmove-trace=raw). Such a trace has OPEN, SITE, STORE, UNSEEN, STREAM (of any
 * place and size), FLUSH (extra: site), FENCE (place: site), SYNC, OUTPUT (place: bytes that the
 * program has printed to stdout), GROW, OTHER, FORKED, UNTRACED, SOCKET, CLOSED, and no transactions. */
#define NVM_TRACE_APART 1
#define NVM_TRACE_RAW 2
#define NVM_TRACE_LAT 4  /* with APART: lat, whose stores come through nvmove/wrap.h */
#define NVM_TRACE_LATB 8 /* the same of latb */

struct nvm_trace_header {
  uint64_t magic;
  uint32_t version;
  uint32_t flags;
};

struct nvm_trace_record {
  uint32_t size; /* bytes of payload */
  uint16_t kind;
  uint16_t thread; /* numbered in the order of appearance; 0: none of the traced process */
  uint64_t place;
  uint64_t extra;
};

#endif
