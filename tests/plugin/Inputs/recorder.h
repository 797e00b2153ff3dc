/* recorder.h: a runtime for tests of the compiler: it logs what it is told and finds what it was
 * not.
 *
 * It keeps an undo log of the notes. At each commit it rolls a copy of the memory back and compares
 * it with what the memory was when the transaction began: a byte that was written without a note,
 * or noted only after it was written, differs. So every store of a program is checked, whatever
 * instruction made it.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stddef.h>

/* Zeroed memory in the reserved range. The transaction begins anew. */
void *recorder_map(size_t size);

/* Watches memory of the program itself that a linker script placed in the range. */
void recorder_watch(void *begin, void *end);

/* What code that nobody instruments is about to write: a note on its behalf. */
void recorder_excuse(void *address, size_t size);

/* Compares, prints the first difference, begins the next transaction. 0: everything was noted. */
int recorder_commit(void);

/* 0 when every commit so far and one more were right; prints what was noted. For the end of main.
 */
int recorder_finish(void);

/* Since the transaction began: calls of __nvm_note*, bytes noted at least once, commits in all. */
size_t recorder_notes(void);
size_t recorder_bytes(void);
size_t recorder_commits(void);

#endif
