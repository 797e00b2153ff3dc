// Every operation of the register language, once, beside the code that it stands for.
// Format: docs/internals/facts-format.md; nouns: src/facts/Facts.h.
// RUN: %scan --emit-facts %s -o %t.nvf --
// RUN: %nvmove facts %t.nvf | FileCheck %s
#include <stddef.h>

struct inner {
  int x;
  char *text;
};
struct outer {
  int a;
  struct inner in;
  struct inner *link;
  unsigned low : 3, high : 7, top : 5;
};
struct outer global;
extern void *make(size_t size);
extern int use(void *what, ...);

// CHECK-LABEL: body addressOf parameters 0
void addressOf(void) {
  int local;
  use(&global); // CHECK: [0] [[G:r[0-9]+]] = address global
                // CHECK: = call use ( [[G]] )
  use(&local);  // CHECK: [0] [[L:r[0-9]+]] = address local
                // CHECK: = call use ( [[L]] )
  use((void *)make); // CHECK: = address make
}

// CHECK-LABEL: body copy parameters 2
struct outer *copy(struct outer *p, int n) {
  struct outer *q = p; // CHECK: [0] [[Q:r[0-9]+]] = copy r0 @[[#@LINE]]:
  q = n ? &global : q; // CHECK-DAG: [[C:r[0-9]+]] = copy [[Q]]
                       // CHECK-DAG: [[C]] = copy {{r[0-9]+}}
                       // CHECK: [[Q]] = copy [[C]]
  return q;            // CHECK: return [[Q]] @[[#@LINE]]:3
}

// CHECK-LABEL: body fieldOf parameters 1
char **fieldOf(struct outer *p) {
  return &p->in.text; // CHECK: [[I:r[0-9]+]] = field r0 .in +8 : struct outer @[[#@LINE]]:
                      // CHECK: [[T:r[0-9]+]] = field [[I]] .text +8 : struct inner
                      // CHECK: return [[T]]
}

// CHECK-LABEL: body elementOf parameters 2
struct outer *elementOf(struct outer *p, int n) {
  return &p[n]; // CHECK: [[E:r[0-9]+]] = element r0
                // CHECK: return [[E]]
}

// CHECK-LABEL: body offset parameters 1
char *offset(char *p) {
  return p + 12 - 4; // CHECK: [[A:r[0-9]+]] = offset r0 +12
                     // CHECK: [[B:r[0-9]+]] = offset [[A]] +-4
}

// CHECK-LABEL: body wander parameters 2
char *wander(char *p, int n) {
  return p + n; // CHECK: = wander r0
}

// CHECK-LABEL: body cast parameters 2
struct inner *cast(void *p, char *c) {
  struct inner *i = p;      // CHECK: = cast r0 : struct inner * @[[#@LINE]]:
  use(i);
  return (struct inner *)c; // CHECK: = cast r1 : struct inner * @[[#@LINE]]:
}

// CHECK-LABEL: body load parameters 1
char *load(struct outer *p) {
  return p->link->text; // CHECK: [[F:r[0-9]+]] = field r0 .link +24
                        // CHECK: [[L:r[0-9]+]] = load [[F]] : struct inner *
                        // CHECK: [[T:r[0-9]+]] = field [[L]] .text
                        // CHECK: [[V:r[0-9]+]] = load [[T]] : char *
                        // CHECK: return [[V]]
}

// CHECK-LABEL: body store parameters 3
void store(struct outer *p, struct inner *i, int n) {
  p->link = i;    // CHECK: [[F:r[0-9]+]] = field r0 .link +24
                  // CHECK: store [[F]] r1 : struct inner *
  p->link = NULL; // CHECK: store {{r[0-9]+}} null : struct inner *
  p->top = n;     // CHECK: [[T:r[0-9]+]] = field r0 .top +33
                  // CHECK: store [[T]] r2
}

// CHECK-LABEL: body copyObject parameters 2
void copyObject(struct outer *p, struct outer *q) {
  *p = *q;       // CHECK: copyobject r0 r1 : struct outer
  p->in = q->in; // CHECK-DAG: [[T:r[0-9]+]] = field r0 .in +8
                 // CHECK-DAG: [[F:r[0-9]+]] = field r1 .in +8
                 // CHECK: copyobject [[T]] [[F]] : struct inner
}

// CHECK-LABEL: body sizeOf parameters 1
size_t sizeOf(struct outer *p) {
  // CHECK-COUNT-2: = sizeof : struct outer
  // CHECK-NOT: sizeof
  return sizeof *p + offsetof(struct outer, link) + sizeof(int);
}

// CHECK-LABEL: body call parameters 2
void *call(void *(*f)(size_t), size_t n) {
  make(n);     // CHECK: = call make ( r1 )
  use(0, f);   // CHECK: = call use ( null r0 )
  return f(n); // CHECK: [[R:r[0-9]+]] = call r0 ( r1 ) : void *(unsigned long)
               // CHECK: return [[R]]
}

// CHECK-LABEL: body regions parameters 2
void regions(struct outer *p, int n) {
  use(p);   // CHECK: [0] {{.*}} call use
  if (n)
    use(p); // CHECK: [[[#THEN:]]] {{.*}} call use
  else
    use(p); // CHECK: [[[#THEN + 1]]] {{.*}} call use
  while (n--)
    use(p); // CHECK: [[[#THEN + 2]]] {{.*}} call use
  use(p);   // CHECK: [0] {{.*}} call use
}

// CHECK-LABEL: body nothing parameters 0
void nothing(void) {
  return; // CHECK-NEXT: [0] return @[[#@LINE]]:3
}
