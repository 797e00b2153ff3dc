// Flexible arrays: what follows a record is one array, with the marks of its member; where several
// members may be meant, nobody decides. Inside a record such an array lies over other members.
// Unions with volatile members. Marks that would say nothing are errors.
// RUN: %run %s -DRUN -fblocks --level=-O0 --level=-O2 | FileCheck %s
// RUN: not %cc -c %s -DWRONG -o %t.o 2>&1 | FileCheck --check-prefix=WRONG %s
#include "nvmove/nvmove.h"

// CHECK: struct either 8: w +8 flexible of struct either.w[]: +0 x1/8 either;
struct either {
  long n;
  NVM_PTR_OR_NUMBER uint64_t w[];
};
// CHECK-NEXT: struct tagged 8: w +8 flexible of struct tagged.w[]: +0 x1/8 pointer tag 0x7;
struct tagged {
  long n;
  NVM_TAGGED_PTR(uintptr_t, 7) w[];
};
// CHECK-NEXT: struct pair 8: w +8 flexible of struct element: a +0 x1/8 weak; b +16 x1/8 pointer;
struct pair {
  long n;
  struct element {
    NVM_WEAK_PTR(void) a;
    long n;
    void *b;
  } w[0];
};
// CHECK-NEXT: struct hits 8: w +8 flexible of struct hits.w[]: +0 x4/1 volatile;
struct hits {
  long n;
  NVM_VOLATILE int w[];
};
// CHECK-NEXT: struct two 8: p +8 flexible of struct two.p[]: +0 x1/8 union;
struct two {
  long n;
  void *p[0];
  char raw[0];
};
// CHECK-NEXT: struct both 8: w +8 flexible of void *: +0 x1/8 pointer;
struct both {
  long n;
  union {
    void *w[0];
    void *also[0];
  };
};
// CHECK-NEXT: struct bytes 8: next +0 x1/8 pointer; b +8 flexible of char:
struct bytes {
  struct bytes *next;
  union {
    char b[0];
    uint64_t w[0];
  };
};
// CHECK-NEXT: struct empty 8: list +8 flexible of char:
struct empty {
  long n;
  struct {
  } list[];
};
// CHECK-NEXT: struct below 16: p +16 flexible of struct below.p[]: +0 x1/8 union; p +0 x1/8 union; p +8 x1/8 union;
struct below {
  union {
    void *p[0];
    char raw[16];
  };
};
// CHECK-NEXT: struct cached 16: u +0 x4/1 volatile; p +8 x1/8 union;
struct cached {
  union {
    NVM_VOLATILE int all;
    NVM_VOLATILE char other[2];
  } u;
  union {
    NVM_VOLATILE int hits;
    void *p;
  };
};
// What another member has, is not volatile: no words.
// CHECK-NEXT: struct partly 8:{{ ?$}}
struct partly {
  union {
    NVM_VOLATILE long a;
    long b;
  } u;
};
// CHECK-NEXT: struct middle 24: slot +8 x2/8 union;
struct middle {
  long n;
  void *slot[0];
  unsigned long raw[2];
};
// CHECK-NEXT: struct mark 24: a +8 x1/8 pointer; b +16 x1/8 pointer; end +24 flexible of void *: +0 x1/8 pointer;
struct mark {
  long n;
  char start[0];
  void *slot[0];
  void *a;
  void *b;
  void *end[0];
};
// CHECK-NEXT: struct partial 24: a +0 x1/8 pointer; p +16 x1/8 pointer; slot +8 x1/8 union;
struct partial {
  struct either *a;
  void *slot[0];
  long mark;
  void *p;
};
// CHECK-NEXT: struct large 67108880: a +0 x1/8 pointer; b +8 x1/8 pointer; slot +8 x8388609/8 union;
struct large {
  void *a;
  void *slot[0];
  void *b;
  char room[1 << 26];
};
// CHECK-NEXT: struct room 24: other +16 x1/8 pointer; h.v +8 x1/8 union;
struct room {
  struct {
    long n;
    void *v[];
  } h;
  long room;
  struct either *other;
};
// CHECK-NEXT: struct noted 24: p +8 x1/8 pointer; v +0 x1/8 union; v +16 x1/8 union;
struct noted {
  void *v[0];
  NVM_VOLATILE int hits;
  struct either *p;
  int n, more;
};
// CHECK-NEXT: struct called 32: call +8 x1/8 function; one +16 x1/8 weak; v +0 x1/8 union; at +24 x1/8 union;
struct called {
  void *v[0];
  long kind;
  void (*call)(void);
  NVM_WEAK_PTR(void) one;
  NVM_WHEN(kind, 1) void *at;
};
// CHECK-NEXT: struct tells 24: w +8 x2/8 either;
struct tells {
  long n;
  NVM_PTR_OR_NUMBER uint64_t w[0];
  uint64_t raw[2];
};
// CHECK-NEXT: struct twice 16: u.p.{{.*}} +0 x1/8 union;
struct twice {
  union {
    struct {
      void *all[0];
      void *first;
    } p;
    uint64_t number;
  } u;
  long n;
};
// CHECK-NEXT: union behind 24: a.v +24 flexible of union behind.a.v[]: +0 x1/8 union; a.v +8 x1/8 union; a.v +16 x1/8 union;
union behind {
  struct {
    long n;
    void *v[];
  } a;
  char room[24];
};
// CHECK-NEXT: struct split 28: u.a.v +25 flexible of struct split.u.a.v[]: +0 x1/8 union; u.a.v +9 x1/8 union; u.a.v +17 x1/8 union;
struct split {
  char c;
  union behind u;
} __attribute__((packed, aligned(4)));
// CHECK-NEXT: struct inside 32: u.v +0 x1/8 union; u.v +8 x1/8 union; p +24 x1/8 pointer;
struct inside {
  union {
    void *v[0];
    char room[16];
  } u;
  long n;
  void *p;
};
#ifdef __BLOCKS__
// CHECK-NEXT: struct block 16: call +0 x1/8 pointer; later +8 x1/8 weak;
struct block {
  void (^call)(void);
  NVM_ANNOTATE("nvmove.weak") int (^later)(int);
};
#endif
#ifdef WRONG
struct wrong {
  long kind;
  // WRONG: :[[@LINE+1]]:{{.*}} field 'w': NVM_WHEN and NVM_UNLESS cannot decide about an array without a length
  NVM_WHEN(kind, 1) void *w[];
};
struct outer {
  long kind;
  struct {
    // WRONG: :[[@LINE+1]]:{{.*}} field 'inside': NVM_WHEN and NVM_UNLESS cannot decide about an array without a length
    NVM_WHEN(kind, 1) void *inside;
  } list[];
};
// Marks that would say nothing.
struct silent {
  // WRONG: :[[@LINE+1]]:{{.*}} field 'small': its mark is for pointers and for integers of 8 bytes
  NVM_PTR_OR_NUMBER unsigned small;
  // WRONG: :[[@LINE+1]]:{{.*}} field 'inside': its mark is for pointers and for integers of 8 bytes
  NVM_ANNOTATE("nvmove.weak") struct element inside[2];
  // WRONG: :[[@LINE+1]]:{{.*}} field 'bits': its mark is for pointers and for integers of 8 bytes, not bit-fields
  NVM_PTR_OR_NUMBER uint64_t bits : 64;
  // WRONG: :[[@LINE+1]]:{{.*}} field 'low': its mark is for pointers and for integers of 8 bytes
  NVM_TAGGED_PTR(uint64_t, 1) low : 48;
};
struct decided {
  long kind;
  union {
    NVM_WHEN(kind, 5) struct {
      long own;
      NVM_WHEN(own, 1) void *p;
      // WRONG: :[[@LINE+1]]:{{.*}} field 'in': NVM_WHEN and NVM_UNLESS decide about members that have conditions of their own
    } in;
    long number;
  };
};
// WRONG: :[[@LINE+1]]:{{.*}} 'struct far': it has pointers 4 GiB or more behind its start
struct far {
  char room[1ul << 32];
  void *p;
};
uint64_t use(int which) {
  return which ? NVM_TYPE_ID(struct wrong) + NVM_TYPE_ID(struct outer)
               : NVM_TYPE_ID(struct silent) + NVM_TYPE_ID(struct decided) + NVM_TYPE_ID(struct far);
}
#endif

#ifdef RUN
#include "nvmove/abi.h"
#include "recorder.h"

#include <stdio.h>

extern const struct nvm_type *const __start_nvm_types[], *const __stop_nvm_types[];

static const struct nvm_type *find(uint64_t id) {
  for (const struct nvm_type *const *t = __start_nvm_types; t < __stop_nvm_types; t++)
    if ((*t)->id == id)
      return *t;
  return NULL;
}

static void show_fields(const struct nvm_type *type) {
  static const char *const kinds[] = {"?",        "pointer", "weak",     "union",  "function",
                                      "flexible", "static",  "volatile", "either", "xor"};
  for (uint32_t i = 0; i < type->field_count; i++) {
    const struct nvm_field *f = &type->fields[i];
    printf(" %s%s+%u", f->name, *f->name ? " " : "", f->offset);
    if (f->kind == NVM_FIELD_FLEXIBLE_ARRAY) {
      printf(" flexible of %s:", find(f->target)->name);
      show_fields(find(f->target));
      continue;
    }
    printf(" x%u/%u %s", f->count, f->stride, kinds[f->kind]);
    if (f->tag)
      printf(" tag %#jx", (uintmax_t)f->tag);
    printf(";");
  }
}

static void show(uint64_t id) {
  printf("%s %ju:", find(id)->name, (uintmax_t)find(id)->size);
  show_fields(find(id));
  printf("\n");
}

int main(void) {
  show(NVM_TYPE_ID(struct either));
  show(NVM_TYPE_ID(struct tagged));
  show(NVM_TYPE_ID(struct pair));
  show(NVM_TYPE_ID(struct hits));
  show(NVM_TYPE_ID(struct two));
  show(NVM_TYPE_ID(struct both));
  show(NVM_TYPE_ID(struct bytes));
  show(NVM_TYPE_ID(struct empty));
  show(NVM_TYPE_ID(struct below));
  show(NVM_TYPE_ID(struct cached));
  show(NVM_TYPE_ID(struct partly));
  show(NVM_TYPE_ID(struct middle));
  show(NVM_TYPE_ID(struct mark));
  show(NVM_TYPE_ID(struct partial));
  show(NVM_TYPE_ID(struct large));
  show(NVM_TYPE_ID(struct room));
  show(NVM_TYPE_ID(struct noted));
  show(NVM_TYPE_ID(struct called));
  show(NVM_TYPE_ID(struct tells));
  show(NVM_TYPE_ID(struct twice));
  show(NVM_TYPE_ID(union behind));
  show(NVM_TYPE_ID(struct split));
  show(NVM_TYPE_ID(struct inside));
#ifdef __BLOCKS__
  show(NVM_TYPE_ID(struct block));
#endif
  return 0;
}
#endif
