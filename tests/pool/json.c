// The JSON of `nvmove pool dump` is valid, and keeps every value.
// RUN: %cc %s -o %t && rm -f %pool && %t %pool && %nvmove pool dump --format=json %pool > %t.json
// RUN: %python %S/Inputs/strict.py < %t.json && FileCheck --input-file=%t.json %s
// CHECK: "type":"struct record"{{.*}}"fields":{"raw":{"bytes":"01000203fffe","text":"\u0001"}
// CHECK-SAME: "hidden":{"bytes":"ff0061626300"}
// CHECK-SAME: "stale":{"bytes":"6e6577006572","text":"new"}
// CHECK-SAME: "name":"größe"
// CHECK-SAME: "cut":{"bytes":"6772c3"}
// CHECK-SAME: "empty":""
// CHECK-SAME: "d":["NaN","Infinity","-Infinity",-0,1.5,"NaN(0x7ff8000000000001)"]
// CHECK-SAME: "f":["NaN","-Infinity",0.10000000149011612]
// CHECK-SAME: "l":["NaN","Infinity",0.5,"1.00000000000000000011"]
// CHECK-SAME: "on":[true,false,2]
// CHECK-SAME: "parts":[{"id":{"bytes":"fe"},"part":"-Infinity"}]
// CHECK-SAME: "octet":253
// CHECK-SAME: "number":-3,"wide":65534,"quad":"0000000000000000000000000080ff3f"
// A block of characters, whole; one of bytes, too.
// RUN: FileCheck --check-prefix=TEXT --input-file=%t.json %s
// TEXT-DAG: "fields":{"text":"{{((xxx){133})}}"}
// TEXT-DAG: "fields":{"text":{"bytes":"61620063{{0*}}","text":"ab"}}
// TEXT-DAG: "type":"untyped",{{.*}}"fields":{"bytes":"{{((2a){100})}}"}
// What stands behind a block's last whole object, and what of one that is cut off.
// TEXT-DAG: "type":"struct head",{{.*}}"fields":{"n":[1,2,3],"[rest]":{"bytes":"2b"}}
// TEXT-DAG: "type":"struct record",{{.*}}"[rest]":{"bytes":"{{[0-9a-f]*}}2c{{[0-9a-f]*}}"}}
// For people: what a text says, the beginning of what is long.
// RUN: %nvmove pool dump %pool | FileCheck --check-prefix=PEOPLE %s
// PEOPLE: stale: "new"
// PEOPLE: d: ["NaN","Infinity","-Infinity",-0,1.5,"NaN(0x7ff8000000000001)"]
// PEOPLE-DAG: text: "{{((xx){128})}}"
// PEOPLE-DAG: text: "ab"
// PEOPLE-DAG: bytes: "{{((2a){64})}}..."
// A text that looks like a pointer is none.
// RUN: %nvmove pool dump --format=graph %pool | FileCheck --check-prefix=GRAPH %s
// GRAPH: digraph
// GRAPH-NOT: ->
#include "nvmove/nvmove.h"

#include <math.h>
#include <string.h>
#include <uchar.h>

typedef NVM_STRUCT record {
  unsigned char raw[6];
  char hidden[6], stale[6], name[12], cut[3], empty[4];
  double d[6];
  float f[3];
  long double l[4];
  _Bool on[3];
  struct {
    char id[1];
    float part;
  } parts[1];
  unsigned char octet, octets[2][1];
  char number;
  char16_t wide;
  __float128 quad;
}
record;
typedef NVM_STRUCT head { int n[3]; }
head;

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  record *r = nvm_calloc(pool, NVM_TYPE_ID(record), 1, sizeof *r);
  memcpy(r->raw, "\1\0\2\3\xff\xfe", 6);
  r->octet = 253, r->octets[1][0] = 254, r->number = -3, r->wide = 0xfffe, r->quad = 1.5;
  memcpy(r->hidden, "\xff\0abc", 6);
  memcpy(r->stale, "new\0er", 6);
  strcpy(r->name, "gr\xc3\xb6\xc3\x9f"
                  "e");
  memcpy(r->cut, "gr\xc3", 3);
  const unsigned long odd = 0x7ff8000000000001;
  const double d[] = {NAN, INFINITY, -INFINITY, -0.0, 1.5};
  memcpy(r->d, d, sizeof d);
  memcpy(&r->d[5], &odd, sizeof odd);
  const float f[] = {NAN, -INFINITY, 0.1f};
  memcpy(r->f, f, sizeof f);
  const long double l[] = {NAN, INFINITY, 0.5L, 1 + 0x1p-63L};
  memcpy(r->l, l, sizeof l);
  memcpy(r->on, "\1\0\2", 3);
  r->parts[0].id[0] = '\xfe';
  r->parts[0].part = -INFINITY;
  nvm_pool_set_root(pool, r);
  memset(nvm_calloc(pool, NVM_TYPE_ID(char), 1, 400), 'x', 399);
  memcpy(nvm_calloc(pool, NVM_TYPE_ID(char), 1, 16), "ab\0c", 4);
  strcpy(nvm_calloc(pool, NVM_TYPE_ID(char), 1, 16), "@0x9c080");
  memset(nvm_calloc(pool, 0, 1, 128), 42, 100);
  int *n = nvm_calloc(pool, NVM_TYPE_ID(head), 1, sizeof(head) + 4);
  n[0] = 1, n[1] = 2, n[2] = 3, n[3] = 43;
  memset(nvm_calloc(pool, NVM_TYPE_ID(record), 1, 64), 44, 60);
  return nvm_tx_commit(pool) || nvm_pool_close(pool);
}
