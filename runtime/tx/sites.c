/* sites.c: what the writes of compiled code call, with an address that may be anywhere.
 *
 * The same questions that abi.h has inline, asked out of line: does the address lie in the reserved
 * range, is it noted already, does it lie in the block that was allocated last? Only then comes
 * the note. The address arrives in r10, where a nested function of C has its static chain and
 * ordinary code has nothing, and every general register but r11 is kept: so a write pays for its
 * note with little more than a call, and compiled code keeps its values where they are. That is why
 * this is assembler: C would save five registers before its first question.
 *
 * They lie in a section of their own, by which watch.h knows them: the program's code is behind the return address
 * that they were called with, and that lies where SITE puts it.
 *
 * Where lines are all that commit needs, and nothing else is to be asked, a note is made here (sites_quick.h).
 *
 * A byte is noted when its bit of `missing` is clear. What is shifted in from above counts as
 * missing, so that a write which crosses its line is never found in the table.
 */
#include "nvmove/abi.h"

#ifdef NVM_SITES_ALONE /* in a test's own runtime, which has no threads */
#define QUICK ""
#define QUICK_OPERANDS(count)
#else
#include "tx/sites_quick.h"
#endif

_Static_assert(NVM_LINE_SIZE == 64 && sizeof(struct nvm_line) == 16, "address to slot: by 2 bits");
_Static_assert(offsetof(struct nvm_line, missing) == 8, "as FILTER has it");

/* A mismatch fails at link (abi.def). */
const char NVM_ABI_VERSION_SYMBOL = 1;

/* A library that is loaded later finds in the program what it calls: the linker takes nothing from
 * the archive that only such a library needs. */
__attribute__((used)) static const void *const for_libraries[] = {
    (const void *)__nvm_note_call, (const void *)__nvm_note_scanf, (const void *)__nvm_split_point,
    (const void *)__nvm_atomic_landed};

/* clang-format off */
/* `frame`: bytes between the stack pointer behind it and where it was before the call. */
#define PUSH(register, frame) "pushq %%" register "\n .cfi_def_cfa_offset " #frame "\n"
#define POP(register, frame) "popq %%" register "\n .cfi_def_cfa_offset " #frame "\n"
#define TABLE_TO(register)                                                                         \
  "movq __nvm_lines@gottpoff(%%rip), %%" register "\n movq %%fs:(%%" register "), %%" register "\n"

#define RANGE_OR_RETURN                                                                            \
  "movq %%r10, %%r11\n shrq %[range_shift], %%r11\n cmpl %[tag], %%r11d\n jne 9f\n"

/* Leaves in rax, from the lowest bit on, what is missing from the address to the line's end. The line is
 * compared twice: see abi.h. */
#define FILTER                                                                                     \
  TABLE_TO("rax")                                                                                  \
  "movl %%r10d, %%ecx\n shrl $2, %%ecx\n andl %[slots], %%ecx\n addq %%rcx, %%rax\n"               \
  "movq %%r10, %%r11\n shrq $6, %%r11\n cmpq %%r11, (%%rax)\n jne 5f\n"                            \
  "movq 8(%%rax), %%rcx\n cmpq %%r11, (%%rax)\n jne 5f\n movq %%rcx, %%rax\n notq %%rax\n"         \
  "movl %%r10d, %%ecx\n shrq %%cl, %%rax\n notq %%rax\n"

#define FRESH_OR(end)                                                                              \
  TABLE_TO("r11")                                                                                  \
  "cmpq %c[fresh_start](%%r11), %%r10\n jb 6f\n"                                                   \
  "leaq " end ", %%rax\n cmpq %c[fresh_end](%%r11), %%rax\n jbe 4b\n"                              \
  "6:\n"

#define NOTE(pass, note)                                                                           \
  "3:\n" PUSH("rsi", 32) PUSH("rdi", 40) pass "movq %%r10, %%rdi\n"                                \
  "subq $8, %%rsp\n .cfi_def_cfa_offset 48\n call " note "@PLT\n"                                  \
  "addq $8, %%rsp\n .cfi_def_cfa_offset 40\n" POP("rdi", 32) POP("rsi", 24) "jmp 4b\n"

/* `look_up` jumps to 4 where nothing is to be done and to 5 where the table does not say so; `end`:
 * the address behind the last byte; `pass` moves the size to rsi. */
#define SITE(name, parameters, look_up, end, quick, pass, note, count)                             \
  __attribute__((naked, section("nvm_sites"))) NVM_CALL_STATIC_CHAIN void name parameters {        \
    __asm__ volatile(                                                                              \
        RANGE_OR_RETURN PUSH("rax", 16) PUSH("rcx", 24) look_up                                    \
        "4:\n" POP("rcx", 16) POP("rax", 8) "9: ret\n"                                             \
        "5: .cfi_def_cfa_offset 24\n" FRESH_OR(end) quick NOTE(pass, note)                         \
        :                                                                                          \
        : [range_shift] "i"(NVM_RANGE_SHIFT), [tag] "i"(NVM_RANGE_TAG),                            \
          [slots] "i"((NVM_LINE_SLOTS - 1) * sizeof(struct nvm_line)),                             \
          [fresh_start] "i"(offsetof(struct nvm_line_table, fresh_start)),                         \
          [fresh_end] "i"(offsetof(struct nvm_line_table, fresh_end)),                             \
          [bytes] "i"(count), [above] "i"(NVM_LINE_SIZE - (count))                                 \
          QUICK_OPERANDS(count));                                                                  \
  }

#define SIZED(name, note, count)                                                                   \
  SITE(name, (void), FILTER "shlq %[above], %%rax\n testq %%rax, %%rax\n jne 5f\n",                \
       "%c[bytes](%%r10)", QUICK, "movl %[bytes], %%esi\n", note, count)
#define SITES(count)                                                                               \
  SIZED(__nvm_site_##count, "__nvm_note", count)                                                   \
  SIZED(__nvm_site_ahead_##count, "__nvm_note_ahead", count)

/* The size is in rdi. None: nothing is written. */
#define ANY(name, note)                                                                            \
  SITE(name, (size_t Size),                                                                        \
       "testq %%rdi, %%rdi\n je 4f\n cmpq $64, %%rdi\n ja 5f\n" FILTER                             \
       "movl $64, %%ecx\n subl %%edi, %%ecx\n shlq %%cl, %%rax\n testq %%rax, %%rax\n jne 5f\n",   \
       "(%%r10, %%rdi)", "", "movq %%rdi, %%rsi\n", note, 0)
/* clang-format on */

SITES(1)
SITES(2)
SITES(4)
SITES(8)
SITES(12)
SITES(16)
SITES(20)
SITES(24)
SITES(32)
SITES(40)
SITES(48)
SITES(64)
ANY(__nvm_site, "__nvm_note")
ANY(__nvm_site_ahead, "__nvm_note_ahead")

/* Behind what was noted ahead. */
__attribute__((naked)) NVM_CALL_PRESERVE_MOST void __nvm_site_drain(void) {
  __asm__ volatile(TABLE_TO("r11") "cmpq $0, %c[ahead](%%r11)\n jne __nvm_drain@PLT\n ret\n"
                   :
                   : [ahead] "i"(offsetof(struct nvm_line_table, ahead)));
}
