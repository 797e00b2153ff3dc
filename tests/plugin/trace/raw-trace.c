// --nvmove-trace=raw: what is told of stores, flushes and fences, in the order of the instructions; nothing is noted.
// RUN: %cc -O0 --nvmove-trace=raw -S -emit-llvm %s -o - | FileCheck --implicit-check-not=@__nvm_note --implicit-check-not=@__nvm_site %s
// RUN: %cc -O2 --nvmove-trace=raw -S -emit-llvm %s -o - | FileCheck --implicit-check-not=@__nvm_note --implicit-check-not=@__nvm_site %s
// RUN: not %cc --nvmove-trace=row -c %s -o %t.o 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: %cc -O1 --nvmove-trace=raw -c %s -o %t.o 2>&1 | FileCheck --check-prefix=ADVICE %s
// ADVICE: warning: this flush is not traced: its address is not an operand of the assembler
// WRONG: value of '--nvmove-trace=row' not understood; it is 'on', 'off', 'raw', or nothing, which is 'on'
//
// Only such a program has functions in front of mmap and its kin.
// RUN: %cc -O1 -DPROGRAM %s -o %t.plain && llvm-nm %t.plain | FileCheck --check-prefix=PLAIN --implicit-check-not=" T mmap" --implicit-check-not=" T munmap" %s
// PLAIN: T nvm_pool_create
// RUN: %cc -O1 -DPROGRAM --nvmove-trace=raw %s -o %t.raw && llvm-nm %t.raw | FileCheck --check-prefix=RAW %s
// RAW-DAG: T mmap
// RAW-DAG: T msync
// RAW-DAG: T munmap
#ifdef PROGRAM
#include <nvmove/nvmove.h>
int main(int argc, char **argv) { return argc > 1 && !nvm_pool_create(argv[1], 1 << 20); }
#else
#include <immintrin.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct record {
  long a, b;
  _Atomic long c;
  char text[64];
};

// CHECK-LABEL: define {{.*}}@intrinsics(
// CHECK: store i64 1,
// CHECK-NEXT: call void @__nvm_raw_store({{.*}}, i64 8,
// CHECK: call void @llvm.x86.clwb(
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 0,
// CHECK: call void @llvm.x86.clflushopt(
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 0,
// CHECK: call void @llvm.x86.sse2.clflush(
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 1,
// CHECK: call void @llvm.x86.sse.sfence(
// CHECK-NEXT: call void @__nvm_raw_fence(
// CHECK: call void @__nvm_raw_stream({{.*}}, i64 8,
// CHECK: call void @llvm.x86.sse2.mfence(
// CHECK-NEXT: call void @__nvm_raw_fence(
__attribute__((target("clwb,clflushopt"))) void intrinsics(struct record *p) {
  p->a = 1;
  _mm_clwb(p);
  _mm_clflushopt(p);
  _mm_clflush(p);
  _mm_sfence();
  _mm_stream_si64((long long *)&p->b, 7);
  _mm_mfence();
}

// A flush of a line is no store to it. Of an instruction with a prefix the name is that of a newer one.
// CHECK-LABEL: define {{.*}}@assembler(
// CHECK-NOT: @__nvm_raw_store
// CHECK: asm sideeffect ".byte 0x66; clflush $0"
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 0,
// CHECK: asm sideeffect "clflush $0"
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 1,
// CHECK: asm sideeffect ".byte 0x66; xsaveopt $0"
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 0,
// CHECK: asm sideeffect "clwb ($0)\0A\09sfence"
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 0,
// CHECK-NEXT: call void @__nvm_raw_fence(
// CHECK: call void @__nvm_raw_fence(
// CHECK-NEXT: asm sideeffect "lock; addl
// CHECK-NEXT: call void @__nvm_raw_fence(
// CHECK: asm sideeffect "data16; clflush $0"
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 0,
// CHECK: call void @__nvm_raw_fence(
// CHECK-NEXT: asm sideeffect "LOCK; addl
// CHECK-NEXT: call void @__nvm_raw_fence(
// CHECK: asm sideeffect ".byte 0x66,0x0f,0xae,0x3F"
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 0,
// CHECK: asm sideeffect ".byte 0x66; .byte 0x0f, 0xae, 0x30"
// CHECK-NEXT: call void @__nvm_raw_flush({{.*}}, i32 0,
// CHECK: call void @__nvm_raw_fence(
// CHECK-NEXT: asm sideeffect ".byte 0x0f,0xae,0xf8"
// CHECK-NEXT: call void @__nvm_raw_fence(
// CHECK: asm sideeffect "clwb (%rdi)"
// CHECK-NOT: @__nvm_raw_flush
// CHECK: asm sideeffect "movnti
// CHECK-NEXT: call void @__nvm_raw_stream({{.*}}, i64 8,
// CHECK: asm sideeffect "movq
// CHECK-NEXT: call void @__nvm_raw_store({{.*}}, i64 8,
void assembler(struct record *p) {
  __asm__ volatile(".byte 0x66; clflush %0" : "+m"(*(volatile char *)p));
  __asm__ volatile("clflush %0" : "+m"(*(volatile char *)p));
  __asm__ volatile(".byte 0x66; xsaveopt %0" : "+m"(*(volatile char *)p));
  __asm__ volatile("clwb (%0)\n\tsfence" ::"r"(p) : "memory");
  __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory");
  __asm__ volatile("data16; clflush %0" : "+m"(*(volatile char *)p));
  __asm__ volatile("LOCK; addl $0,0(%%rsp)" ::: "memory");
  __asm__ volatile(".byte 0x66,0x0f,0xae,0x3F" ::"D"(p) : "memory");
  __asm__ volatile(".byte 0x66; .byte 0x0f, 0xae, 0x30" ::"a"(p) : "memory");
  __asm__ volatile(".byte 0x0f,0xae,0xf8" ::: "memory");
  __asm__ volatile("clwb (%%rdi)" ::: "memory");
  __asm__ volatile("movnti %1, %0" : "=m"(p->b) : "r"(5L));
  __asm__ volatile("movq %1, %0" : "=m"(p->b) : "r"(6L));
}

// CHECK-LABEL: define {{.*}}@atomics(
// CHECK: store atomic i64 {{.*}} release
// CHECK-NEXT: call void @__nvm_raw_store(
// CHECK-NOT: @__nvm_raw_fence
// CHECK: call void @__nvm_raw_fence(
// CHECK-NEXT: store atomic i64 {{.*}} seq_cst
// CHECK-NEXT: call void @__nvm_raw_store(
// CHECK-NEXT: call void @__nvm_raw_fence(
// CHECK: call void @__nvm_raw_fence(
// CHECK-NEXT: atomicrmw add
// CHECK-NEXT: call void @__nvm_raw_store(
// CHECK-NEXT: call void @__nvm_raw_fence(
// CHECK: fence seq_cst
// CHECK-NEXT: call void @__nvm_raw_fence(
void atomics(struct record *p) {
  atomic_store_explicit(&p->c, 4, memory_order_release);
  atomic_store(&p->c, 3);
  atomic_fetch_add_explicit(&p->c, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
}

// CHECK-LABEL: define {{.*}}@forCompilersOnly(
// CHECK: fence acquire
// CHECK-NOT: @__nvm_raw_fence
// CHECK: {{^[}]}}
void forCompilersOnly(void) { atomic_thread_fence(memory_order_acquire); }

// CHECK-LABEL: define {{.*}}@calls(
// CHECK: @strcpy(
// CHECK: call void @__nvm_raw_call(
// CHECK: call void @__nvm_raw_at(
// CHECK: @msync(
// CHECK: call i32 @puts(
// CHECK: call void @__nvm_raw_output(
void calls(struct record *p, const char *text) {
  strcpy(p->text, text);
  msync(p, 4096, MS_SYNC);
  puts(text);
}

// What lies on the stack is in no file. A file may be mapped over a variable.
// CHECK-LABEL: define {{.*}}@elsewhere(
// CHECK-NOT: @__nvm_raw_store({{.*}}%local
// CHECK: call void @__nvm_raw_store({{.*}}@variable, i64 8
// CHECK-NOT: @__nvm_raw
// CHECK: {{^[}]}}
long variable;
long elsewhere(long n) {
  variable = n;
  volatile long local = n;
  return local;
}

// CHECK: define {{.*}}@__nvmove_raw_enable(
// CHECK: call void @__nvm_raw_enable(
#endif
