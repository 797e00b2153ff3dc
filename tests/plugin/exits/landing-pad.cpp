// An exception that leaves an atomic function ends it on its way, and where it lands.
// RUN: %cxx -O1 -S -emit-llvm -o - %s | FileCheck %s
// CHECK: landingpad
// CHECK: call void @__nvm_atomic_thrown(ptr
// CHECK: call void @__nvm_atomic_passed(ptr
void unknown(long *p);
__attribute__((annotate("nvmove.atomic"))) void work(long *p) { unknown(p); }
long *shared;
int guarded(long *p) {
  try {
    work(p);
  } catch (int code) {
    return code;
  }
  return 0;
}
