// A program's own functions with names and arguments that libc.unsafe knows otherwise: nothing breaks.
// RUN: %cc -O0 -w -c %s -o %t.o
// RUN: %cc -O2 -w -c %s -o %t.o
// RUN: %ir -O1 -w %s | FileCheck %s
struct big {
  long a[9];
};
double time(double seconds);
int read(double a, float b, struct big c);
void sprintf(int a, double b, int c);
int vsnprintf(int a, int b, double c, int d);
int sscanf(double a, int b, int *c);
void strcpy(int a, long b);
int select(long a, long b, long c, long d, long e);

// CHECK-LABEL: define {{.*}}@calls(
// CHECK: call double @time(
// CHECK: call i32 @read(
// CHECK: call void @sprintf(
// CHECK: call i32 @select(
void calls(int *p, struct big *b) {
  time(2.5);
  read(1, 2, *b);
  sprintf(1, 2, 3);
  vsnprintf(1, 2, 3, 4);
  sscanf(1, 2, p);
  strcpy(1, 2);
  select(*p, 2, 3, 4, 5);
}
