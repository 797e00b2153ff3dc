// Records with their layout and symbols with their properties.
// Wrong: a layout of another target, an unnamed record without its parent, a typedef lost.
// RUN: %scan --emit-facts %s -o %t.nvf --
// RUN: %nvmove facts %t.nvf | FileCheck %s
// RUN: %scan --emit-facts %s -o %t.again.nvf --
// RUN: cmp %t.nvf %t.again.nvf
#include <stdarg.h>

// CHECK: unit {{.*}}declarations.c lines {{[0-9]+}}
// CHECK-DAG: struct point_s size 16 alias point @[[#@LINE + 1]]:
typedef struct point_s {
  // CHECK-DAG: +0 x : double
  // CHECK-DAG: +8 y : double
  double x, y;
} point;
// CHECK-DAG: struct unnamed size 4 @[[#@LINE + 1]]:
typedef struct {
  int only;
} unnamed;
// CHECK-DAG: union (unnamed in struct shape) size 8
// CHECK-DAG: struct shape size 32 @[[#@LINE + 1]]:
struct shape {
  int kind : 4;
  union {
    long number;
    point *points;
  };
  point center;
  char tail[];
  // CHECK-DAG: +0 points : struct point_s *
  // CHECK-DAG: +16 center : struct point_s
};
// CHECK-DAG: struct packed size 5
struct __attribute__((packed)) packed {
  char tag;
  int value; // CHECK-DAG: +1 value : int
};
// CHECK-DAG: struct hidden size 0 incomplete
struct hidden;
struct hidden *secret; // CHECK-DAG: global secret defined : struct hidden *
struct packed used;
unnamed other;

struct shape *visible; // CHECK-DAG: global visible defined : struct shape *
static int internal;   // CHECK-DAG: global internal static defined : int
extern int elsewhere;  // CHECK-DAG: global elsewhere : int
__attribute__((weak)) int replaceable(int a) { return a + internal + elsewhere; }
// CHECK-DAG: function replaceable defined weak : int (int)
__attribute__((noreturn)) void stop(void);
// CHECK-DAG: function stop noreturn : void (void)
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
// CHECK-DAG: function say formats : void (const char *, ...)
static void run(void) {
  static point kept; // CHECK-DAG: global {{.*}}kept{{.*}} : struct point_s
  kept.x = replaceable(1);
  say("%g", kept.x);
  stop();
}
// CHECK-DAG: function run static defined : void (void)
void (*start)(void) = run;
