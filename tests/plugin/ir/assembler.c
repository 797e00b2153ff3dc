// Numbers that assembler works on are no addresses where it forms none; everything else may be one.
// RUN: %cc -O1 -c %s -o /dev/null 2>&1 | FileCheck %s
// RUN: %cc -O0 -c %s -o /dev/null 2>&1 | FileCheck %s
// RUN: %cc -O1 --nvmove-globals=persistent -c %s -o /dev/null 2>&1 | FileCheck --check-prefix=GLOBALS %s
#include <stdint.h>

static long counter;

// CHECK-NOT: warning: inline assembler
long add(long n) {
  __asm__ volatile("lock; xaddq %0, %1" : "+r"(n), "+m"(counter) : : "memory");
  return n;
}
long exchange(long old, long new) {
  long was;
  __asm__ volatile("lock\n\tcmpxchgq %2, %1 # in place"
                   : "=a"(was), "+m"(counter)
                   : "r"(new), "0"(old)
                   : "memory", "cc");
  return was;
}
void flags(uint64_t set) { __asm__ volatile("pushq %0; popfq" : : "g"(set) : "memory", "cc"); }
void hide(void *p, long n) {
  __asm__ volatile("# nothing ; at all (%0)" : : "r"(p), "r"(n) : "memory");
}
long wait(long n) {
  __asm__ volatile("1: pause\n subq $1, %0\n jnz 1b" : "+r"(n) : : "memory");
  return n;
}
_Bool exchangeTwo(long low, long high) {
  static struct {
    _Alignas(16) long low, high;
  } two;
  _Bool done;
  long a = 1, d = 2;
  __asm__ volatile("lock cmpxchg16b %1; sete %0"
                   : "=q"(done), "+m"(two), "+a"(a), "+d"(d)
                   : "b"(low), "c"(high)
                   : "memory", "cc");
  return done;
}
void relax(long n) { __asm__ volatile("rep; nop" : : "r"(n) : "memory"); }
void fromVariable(long n) {
  static long many;
  many = n;
  __asm__ volatile("movq %0, %%rax; xchgq %%rax, %1" : : "m"(many), "m"(counter) : "rax", "memory");
}

// Each of these writes through what it was given.
// GLOBALS: assembler.c:[[@LINE+2]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
static char named[8];
void constant(int n) { __asm__ volatile("movl %1, %P0" : : "i"(named), "r"(n) : "memory"); }
// CHECK: assembler.c:[[@LINE+2]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void character(uint64_t p) {
  __asm__ volatile("cmpb $'#', %%al; stosb" : "+D"(p) : "a"(0) : "memory");
}
// CHECK: assembler.c:[[@LINE+2]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void commented(uint64_t p) {
  __asm__ volatile("nop /* # */; stosb" : "+D"(p) : "a"(0) : "memory");
}
// CHECK: assembler.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void direct(uint64_t p) { __asm__ volatile("movl $1, (%0)" : : "r"(p) : "memory"); }
// CHECK: assembler.c:[[@LINE+2]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void moved(uint64_t p) {
  __asm__ volatile("movq %0, %%rax; incl (%%rax)" : : "r"(p) : "rax", "memory");
}
// CHECK: assembler.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void modified(uint64_t p) { __asm__ volatile("incl %a0" : : "r"(p) : "memory"); }
// CHECK: assembler.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void string(uint64_t p) { __asm__ volatile("stosb" : "+D"(p) : "a"(0) : "memory"); }
// CHECK: assembler.c:[[@LINE+2]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void repeated(uint64_t p, uint64_t n) {
  __asm__ volatile("rep movsb" : "+D"(p), "+c"(n) : "S"(&counter) : "memory");
}
// CHECK: assembler.c:[[@LINE+2]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void kernel(uint64_t p) {
  __asm__ volatile("syscall" : : "a"(0), "D"(0), "S"(p), "d"(8) : "rcx", "r11", "memory");
}
// CHECK: assembler.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void called(uint64_t p) { __asm__ volatile("call exit" : : "D"(p) : "memory"); }
// CHECK: assembler.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void left(uint64_t p) { __asm__ volatile("jne exit" : : "D"(p) : "memory"); }
// CHECK: assembler.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void encoded(uint64_t p) { __asm__ volatile(".byte 0xff, 0x07" : : "D"(p) : "memory"); }
// CHECK: assembler.c:[[@LINE+2]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void stack(uint64_t p) {
  __asm__ volatile("xchgq %0, %%rsp; pushq $1; xchgq %0, %%rsp" : "+r"(p) : : "memory");
}
// CHECK: assembler.c:[[@LINE+2]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void either(uint64_t p) {
  __asm__ volatile("{incl (%0)|inc dword ptr [%0]}" : : "r"(p) : "memory");
}
// CHECK: assembler.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void inMemory(long *p) { __asm__ volatile("lock; incq %0" : : "m"(*p) : "memory"); }
// CHECK: assembler.c:[[@LINE+1]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void address(long *p) { __asm__ volatile("incq %0" : : "p"(p) : "memory"); }
// CHECK: assembler.c:[[@LINE+2]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
void held(long **p) {
  __asm__ volatile("movq %0, %%rax; incq (%%rax)" : : "m"(*p) : "rax", "memory");
}
// CHECK-NOT: warning:
