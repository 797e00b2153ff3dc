// A number that was made of one of 32 bits holds no address, also where assembler forms some.
// RUN: %cc -O1 -c %s -o /dev/null 2>&1 | FileCheck %s
#include <stdint.h>

// CHECK-NOT: warning:
long twoNumbers(unsigned command, int file) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"((long)command), "D"((long)file), "S"((uint64_t)command & 0xfff)
                   : "rcx", "r11", "memory");
  return result;
}
// CHECK: assembler-numbers.c:[[@LINE+3]]:{{[0-9]+}}: warning: inline assembler may write persistent memory
long threeNumbers(unsigned command, int file, long more) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"((long)command), "D"((long)file), "S"(more)
                   : "rcx", "r11", "memory");
  return result;
}
// CHECK-NOT: warning:
