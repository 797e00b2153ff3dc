// What no note can cover is said, with its place; nothing is dropped silently.
// RUN: %cc -O1 -Wno-atomic-alignment -c %s -o /dev/null 2>&1 | FileCheck %s
// RUN: %cc -O1 -Wno-atomic-alignment -c %s -o /dev/null --nvmove-warnings=off 2>&1 | count 0
// RUN: %ir -O1 --nvmove-atomics=locked %s 2>/dev/null | FileCheck --check-prefix=LOCKED %s
#include "../Inputs/own-system-header.h"

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: atomic read-modify-write may hit persistent memory
long add(long *p) { return __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST); }
// CHECK: warnings.c:[[@LINE+2]]:{{[0-9]+}}: warning: atomic read-modify-write
_Bool swap(int *p, int *old) {
  return __atomic_compare_exchange_n(p, old, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
// CHECK: warnings.c:[[@LINE+2]]:{{[0-9]+}}: warning: atomic read-modify-write
// CHECK-NOT: warnings.c:[[@LINE+1]]:
static inline void inlined(long *p) { __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST); }
void twice(long *p, long *q) { inlined(p), inlined(q); }
// LOCKED-LABEL: define {{.*}}@add(
// LOCKED: call {{.*}}@__nvmove_note_8(ptr nest %p)
// LOCKED: atomicrmw

// Objects too large for an instruction: a function of the compiler's own.
struct large {
  char text[40];
};
// CHECK: warnings.c:[[@LINE+3]]:{{[0-9]+}}: warning: atomic read-modify-write
void exchange(_Atomic struct large *p, struct large *new, struct large *old) {
  __c11_atomic_store(p, *new, __ATOMIC_SEQ_CST);
  *old = __c11_atomic_exchange(p, *new, __ATOMIC_SEQ_CST);
}
// CHECK: warnings.c:[[@LINE+2]]:{{[0-9]+}}: warning: atomic read-modify-write
_Bool compare(_Atomic struct large *p, struct large *new, struct large *old) {
  return __c11_atomic_compare_exchange_strong(p, old, *new, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
// LOCKED-LABEL: define {{.*}}@compare(
// LOCKED: call {{.*}}@__nvmove_note_{{(ahead_)?}}40(ptr nest %p)
// LOCKED: call {{.*}}@__nvmove_note_{{(ahead_)?}}40(ptr nest %old)
// LOCKED: call {{.*}}@__atomic_compare_exchange

// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void assembler(int *p) { __asm__("movl $1, %0" : "=m"(*p)); }
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void number(int *p) { __asm__ volatile("movl $1, (%0)" ::"r"((unsigned long)p) : "memory"); }
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
__attribute__((naked)) void naked(int *p) { __asm__("movl $1, (%rdi); ret"); }
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void input(int *p) { __asm__ volatile("lock; incl %0" ::"m"(*p) : "memory"); }
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void address(unsigned long p) { __asm__ volatile("incl (%0)" ::"r"(p) : "memory"); }
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void inMemory(int *p) { __asm__ volatile("movq %0,%%rax; incl (%%rax)" ::"m"(p) : "rax", "memory"); }
// CHECK-NOT: warnings.c:{{.*}} warning: inline assembler
void harmless(int *p, unsigned long number) {
  __asm__("addl $1, %%eax" ::"m"(*p) : "eax");
  __asm__ volatile("" : "+m"(*p) : "r"(p), "r"(number) : "memory");
  short word = (short)number;
  __asm__ volatile("fldcw %0" ::"m"(word) : "memory");
  __asm__ volatile("outl %0, %1" ::"a"((int)number), "d"(word) : "memory");
  __asm__ volatile("movl $5, %0" ::"m"(*&(int){0}), "i"(5L) : "memory");
  __asm__ volatile("mfence" ::: "memory");
}

// CHECK: warnings.c:[[@LINE+3]]:{{[0-9]+}}: warning: pre-compiled 'ioctl' may write persistent memory through argument 3; describe it in an .unsafe file (--nvmove-unsafe=FILE)
// CHECK-NOT: 'ioctl'
void unknown(struct winsize *p) {
  ioctl(0, TIOCGWINSZ, p);
  ioctl(1, TIOCGWINSZ, p);
}

// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: '__isoc99_fscanf' reads a string without a width
void words(FILE *f, char *p) { fscanf(f, "%s", p); }
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: '__isoc99_vfscanf' reads a string without a width
void list(FILE *f, va_list list) { vfscanf(f, "%d %s", list); }

// What the library writes in other calls.
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: 'setvbuf' lets the library write later to argument 2, and nothing logs
void buffered(FILE *f, char *p) { setvbuf(f, p, _IOFBF, 4096); }
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: 'open_memstream' lets the library write later to argument 2
FILE *grows(size_t *size) { return open_memstream((char *[]){0}, size); }
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: 'fmemopen' lets the library write later to argument 1
FILE *fixed(char *p) { return fmemopen(p, 100, "r+"); }
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: 'initstate' lets the library write later to argument 2
char *state(char *p) { return initstate(1, p, 128); }
// CHECK-NOT: warning:
FILE *reads(char *p) { return fmemopen(p, 100, "rb"); }
void unbuffered(FILE *f) {
  static char own[BUFSIZ];
  setbuf(f, NULL);
  setbuf(f, own);
  fmemopen(NULL, 100, "w");
}

// Formats that only the run knows are looked at then.
// CHECK-NOT: warning:
void format(const char *text, const char *format, int *p) { sscanf(text, format, p); }
void formats(FILE *f, const char *format, va_list list) { vfscanf(f, format, list); }
void bounded(const char *text, va_list list) { vsscanf(text, "%s", list); }

// A file, a folder: only the library has their memory. And a function of the program's own.
// CHECK-NOT: warning:
void owned(FILE *f, DIR *d, int *p) {
  __fpurge(f);
  seekdir(d, 0);
  own_function(p);
}

// A pointer to a function with variable arguments cannot lead to a wrapper; fprintf needs none.
typedef int printer(void *, const char *, ...);
// CHECK-NOT: 'fprintf'
// CHECK: warnings.c:[[@LINE+2]]:{{[0-9]+}}: warning: the address of 'sprintf', which writes memory and takes variable arguments, is taken
// CHECK-NOT: 'fprintf'
printer *taken(int file) { return file ? (printer *)fprintf : (printer *)sprintf; }

// Addresses in constants are told of, too.
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: the address of 'setbuffer' is taken, which lets the library write later
void (*const setter)(FILE *, char *, size_t) = setbuffer;
// CHECK: warnings.c:[[@LINE+1]]:{{[0-9]+}}: warning: the address of 'snprintf', which writes memory and takes variable arguments, is taken
int (*const printers[])(char *, size_t, const char *, ...) = {snprintf};

// On the stack nothing persists.
// CHECK-NOT: warning:
void local(void) {
  struct winsize size;
  ioctl(0, TIOCGWINSZ, &size);
  char text[100];
  scanf("%s", text);
  int n = 1;
  __atomic_fetch_add(&n, 1, __ATOMIC_SEQ_CST);
}
