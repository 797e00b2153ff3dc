/* sites_quick.h: a note that the sites (sites.c) make by themselves, where lines are all that commit needs and nothing
 * else is to be asked: what note_simply (note.c) does with an empty slot, or with one that has the line.
 *
 * It keeps no register more than the site: a store of the program that misses the cache stands at the head of the
 * processor's store buffer, and each store behind it takes a place from the next one that misses. The thread is
 * at work meanwhile (`busy`), as in note.c, and whoever shuts a gate or closes a pool waits for that.
 */
#pragma once

#include "core/gate.h"
#include "core/quick.h"
#include "core/thread.h"

/* From the thread's table, which lies in its state. */
#define OF_THREAD(member)                                                                          \
  ((long)offsetof(struct nvmi_thread, member) - (long)offsetof(struct nvmi_thread, lines_table))
#define OF_QUICK(member)                                                                           \
  (offsetof(struct nvm_line_table, quick) + offsetof(struct nvmi_quick, member))

/* clang-format off */
/* What the bytes leave missing of their line, to rax. */
#define LEFT "movl %%r10d, %%ecx\n movabsq %[mask], %%rax\n shlq %%cl, %%rax\n notq %%rax\n"

/* The commit asks for the file's lines all at once (lines.h): of a few too late for the first, of many too late
 * for most. */
enum { MANY_LINES = 16 };

/* To 3 where it is not that simple; 7 is for where the thread is at work. It has a log before it is: a handler that
 * interrupts its work cannot make one. What a handler changes before that, or who closes the pool, is asked again.
 * An empty slot answers no test until its line is there. What a handler wants to post while the thread is at work
 * is left to the C code. */
#define QUICK                                                                                      \
  TABLE_TO("rax")                                                                                  \
  "movq %c[pool](%%rax), %%rcx\n testq %%rcx, %%rcx\n je 3f\n"                                     \
  "movq %%r10, %%r11\n subq %c[start](%%rax), %%r11\n cmpq %c[size](%%rax), %%r11\n jae 3f\n"      \
  "movq %c[log](%%rax), %%r11\n cmpq $0, (%%r11)\n je 3f\n"                                        \
  "cmpl $0, %c[busy](%%rax)\n jne 3f\n movl $1, %c[busy](%%rax)\n"                                 \
  "cmpq %c[pool](%%rax), %%rcx\n jne 7f\n cmpq $0, (%%r11)\n je 7f\n"                              \
  "cmpb $0, %c[gate](%%rcx)\n jne 7f\n cmpl $0, nvmi_slow(%%rip)\n jne 7f\n"                       \
  ".if %c[bytes] > 8\n cmpb $0, %c[unnoted](%%rcx)\n jne 7f\n .endif\n"                            \
  "movl %%r10d, %%r11d\n andl $63, %%r11d\n cmpl %[above], %%r11d\n ja 7f\n"                       \
  "prefetcht0 (%%r10)\n"                                                                           \
  "movq %c[bit](%%rax), %%r11\n testq %%r11, %c[touched](%%rax)\n jne 1f\n"                        \
  "orq %%r11, %c[touched](%%rax)\n"                                                                \
  "1: movl %%r10d, %%r11d\n shrl $2, %%r11d\n andl %[slots], %%r11d\n"                             \
  "movl %c[used_count](%%rax), %%ecx\n"                                                            \
  "cmpq $0, (%%rax, %%r11)\n jne 8f\n"                                                             \
  "testl %%ecx, %%ecx\n je 1f\n cmpl %[many], %%ecx\n jb 2f\n"                                     \
  "1: movq %c[home](%%rax), %%r11\n prefetcht0 (%%r11, %%r10)\n"                                   \
  "2: movl %%r10d, %%r11d\n shrl $6, %%r11d\n andl %[slot_numbers], %%r11d\n"                      \
  "movw %%r11w, %c[used](%%rax, %%rcx, 2)\n"                                                       \
  "incl %%ecx\n movl %%ecx, %c[used_count](%%rax)\n"                                               \
  "shll $4, %%r11d\n addq %%rax, %%r11\n"                                                          \
  LEFT "movq %%rax, 8(%%r11)\n movq %%r10, %%rax\n shrq $6, %%rax\n movq %%rax, (%%r11)\n"         \
  "0:" TABLE_TO("rax") "movl $0, %c[busy](%%rax)\n cmpl $0, %c[posts](%%rax)\n jne 3f\n jmp 4b\n"  \
  "8: movq %%r10, %%rcx\n shrq $6, %%rcx\n cmpq %%rcx, (%%rax, %%r11)\n jne 7f\n"                  \
  "addq %%rax, %%r11\n" LEFT "andq %%rax, 8(%%r11)\n jmp 0b\n"                                     \
  "7: movl $0, %c[busy](%%rax)\n"

#define QUICK_OPERANDS(count)                                                                      \
  , [mask] "i"((count) ? UINT64_MAX >> (NVM_LINE_SIZE - (count)) % 64 : 0),                        \
  [slot_numbers] "i"(NVM_LINE_SLOTS - 1), [many] "i"(MANY_LINES), [busy] "i"(OF_THREAD(busy)),     \
  [touched] "i"(OF_THREAD(touched)), [used] "i"(OF_THREAD(used)),                                  \
  [used_count] "i"(OF_THREAD(used_count)), [posts] "i"(OF_THREAD(posts_count)),                    \
  [gate] "i"(offsetof(struct nvm_pool, gate)),                                                     \
  [unnoted] "i"(offsetof(struct nvm_pool, has_volatile)), [pool] "i"(OF_QUICK(pool)),              \
  [start] "i"(OF_QUICK(start)), [size] "i"(OF_QUICK(size)), [log] "i"(OF_QUICK(log)),              \
  [home] "i"(OF_QUICK(home)), [bit] "i"(OF_QUICK(bit))
/* clang-format on */
