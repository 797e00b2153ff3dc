// Stores of numbers are recorded where they happen, also where the value says nothing; so is the constant that a
// function returns.
//
// RUN: %scan --emit-facts %s -o %t.nvf -- -std=c99 && %nvmove facts %t.nvf | FileCheck %s
static int count = 7;
struct box { int size; } box;

int fill(int kind) {
  count = 1;
  box.size = kind;
  count++;
  if (kind > 1)
    return -3;
  return kind ? kind : 2;
}

enum { Done = 5 };
int done(void) { return Done; }
void *nothing(void) { return 0; }

// CHECK: body (static initialisers)
// CHECK-NOT: store
// CHECK: body fill
// CHECK: store r{{[0-9]+}} _ : int @9:9
// CHECK: store r{{[0-9]+}} r0 : int @10:12
// CHECK: store r{{[0-9]+}} _ : int @11:8
// CHECK: return -3 @13:5
// CHECK: return{{( r[0-9]+)?}} @14:3
// CHECK: body done
// CHECK: return 5 @18:18
// CHECK: body nothing
// CHECK: return null
