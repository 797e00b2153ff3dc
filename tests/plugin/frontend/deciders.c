// What decides whether a word is a pointer, and members as text.
// RUN: %run %s -DRUN --level=-O0 --level=-O2 | FileCheck %s
// RUN: not %cc -c %s -DWRONG -o %t.o 2>&1 | FileCheck --check-prefix=WRONG %s
#include "nvmove/nvmove.h"

enum kind { TEXT = 1, LIST = 2, NUMBER = 3 };

// CHECK: struct value 40
// CHECK-NEXT: text +8 x1/8 pointer ?1.3:5=1,
// CHECK-NEXT: items +8 x1/8 pointer ?1.3:5=2,
// CHECK-NEXT: rest +16 x1/8 union
// CHECK-NEXT: cache +24 x1/8 pointer !0.0:8=7,9,
// CHECK-NEXT: marked +32 x1/8 pointer tag 0xff00000000000003
// CHECK-NEXT: | 0 1 char state
// CHECK-NEXT: | 1.0 3b unsigned flags
// CHECK-NEXT: | 1.3 5b unsigned kind
// CHECK-NEXT: | 8 8 pointer text
// CHECK-NEXT: | 8 8 pointer items
// CHECK-NEXT: | 8 8 signed number
// CHECK-NEXT: | 16 8 pointer rest
// CHECK-NEXT: | 16 8 signed end
// CHECK-NEXT: | 16 8 pointer either
// CHECK-NEXT: | 24 8 pointer cache
// CHECK-NEXT: | 32 8 unsigned marked
struct value {
  signed char state;
  unsigned flags : 3;
  enum kind kind : 5;
  union {
    NVM_WHEN(kind, TEXT) char *text;
    NVM_WHEN(kind, LIST) struct value *items;
    long number;
  };
  union {
    NVM_WHEN(kind, TEXT, LIST) char *rest; // the other member's pointer is not decided
    long end;
    void *either;
  };
  NVM_UNLESS(state, 7, 9) void *cache;
  NVM_TAGGED_PTR(__UINTPTR_TYPE__, 0xff00000000000003) marked;
};

// In arrays the member that decides is the element's own, or one for all.
// CHECK: struct table 136
// CHECK-NEXT: each.at +16 x3/16 pointer ?8.0:16+5,
// CHECK-NEXT: all +56 x2/8 pointer ?0.0:32=1,
// CHECK-NEXT: grid.at +80 x2/8 pointer ?72.0:32=1,
// CHECK-NEXT: grid.at +112 x2/8 pointer ?104.0:32=1,
// CHECK-NEXT: | 0 4 unsigned kind
// CHECK-NEXT: | 8 16x3 record each
// CHECK-NEXT: | 8 16 part each[]:struct table::(unnamed)
// CHECK-NEXT: | 8 2 signed each[].is
// CHECK-NEXT: | 16 8 pointer each[].at
struct table {
  enum kind kind;
  struct {
    short is;
    NVM_WHEN(is, 5) void *at;
  } each[3];
  NVM_WHEN(kind, TEXT) void *all[2];
  struct {
    int is;
    NVM_WHEN(is, 1) void *at[2];
    int count;
  } grid[2];
};

// CHECK: struct disguised 48
// CHECK-NEXT: either +0 x2/8 either
// CHECK-NEXT: both +16 x1/8 xor
// CHECK-NEXT: hash +24 x1/8 address
// CHECK-NEXT: shared.number +32 x1/8 either
// CHECK-NEXT: u.inner +40 x1/8 pointer ?16.0:64=2,
struct disguised {
  NVM_PTR_OR_NUMBER __UINTPTR_TYPE__ either[2];
  NVM_XOR_PTR __UINTPTR_TYPE__ both;
  NVM_MADE_OF_ADDRESSES unsigned long hash;
  union {
    void *pointer;
    NVM_PTR_OR_NUMBER long number;
  } shared;
  union {
    NVM_WHEN(both, 2) void *inner;
    double number;
  } u;
};

#ifdef WRONG
struct wrong {
  double kind;
  // WRONG: error: nvmove: field 'a': no member 'nobody' beside it or around it
  NVM_WHEN(nobody, 1) void *a;
  // WRONG: error: nvmove: field 'b': 'kind' is no integer that could decide
  NVM_WHEN(kind, 1) void *b;
};
#endif

#ifdef RUN
#include "nvmove/abi.h"
#include "recorder.h"

#include <stdio.h>

extern const struct nvm_type *const __start_nvm_types[], *const __stop_nvm_types[];

static void show_when(const struct nvm_when *when) {
  printf(" %c%u.%u:%u%c", when->unless ? '!' : '?', when->offset, when->first_bit, when->bits,
         when->follows ? '+' : '=');
  for (uint32_t i = 0; i < when->count; i++)
    printf("%jd,", (intmax_t)when->values[i]);
}

static void show(uint64_t id) {
  static const char *const kinds[] = {"?",        "pointer", "weak",     "union",  "function",
                                      "flexible", "static",  "volatile", "either", "xor",
                                      "address"};
  const struct nvm_type *const *t = __start_nvm_types;
  while ((*t)->id != id)
    t++;
  printf("%s %ju\n", (*t)->name, (uintmax_t)(*t)->size);
  for (uint32_t i = 0; i < (*t)->field_count; i++) {
    const struct nvm_field *f = &(*t)->fields[i];
    printf("%s +%u x%u/%u %s", f->name, f->offset, f->count, f->stride, kinds[f->kind]);
    if (f->tag)
      printf(" tag %#jx", (uintmax_t)f->tag);
    if (f->when)
      show_when(f->when);
    printf("\n");
  }
  for (const char *at = (*t)->members; *at; at++)
    printf("%s%c", at == (*t)->members || at[-1] == '\n' ? "| " : "", *at);
}

int main(void) {
  show(NVM_TYPE_ID(struct value));
  show(NVM_TYPE_ID(struct table));
  show(NVM_TYPE_ID(struct disguised));
  return 0;
}
#endif
