#!/usr/bin/env python3
"""Types that change: what `nvmove pool convert` makes of a value, and which changes it refuses.

usage: conversions.py NVMOVE NVMOVE_CC FOLDER

Each case is a member in the pool's type and in the program's, what the pool's program stores, and what
the other program has to find; or a part of the message by which the change, or the value, is refused. The
last line is "N right, N refused as they should be, N wrong".
"""
import os
import subprocess
import sys

RIGHT = [
    ("char a;", "x->a = -3;", "int a;", "x->a == -3"),
    ("unsigned char a;", "x->a = 253;", "int a;", "x->a == 253"),
    ("unsigned char a;", "x->a = 253;", "unsigned short a;", "x->a == 253"),
    ("signed char a[3];", "x->a[0] = -3;", "short a[4];", "x->a[0] == -3 && !x->a[3]"),
    ("unsigned char a[3];", "x->a[1] = 200;", "long a[3];", "x->a[1] == 200"),
    ("unsigned a[2];", "x->a[1] = 200;", "unsigned char a[2];", "x->a[1] == 200"),
    ("char16_t a;", "x->a = 0xfffe;", "unsigned a;", "x->a == 0xfffe"),
    ("_Atomic unsigned char a;", "x->a = 253;", "_Atomic int a;", "x->a == 253"),
    ("unsigned long a;", "x->a = -5UL;", "__int128 a;", "x->a == (__int128)-5UL"),
    ("long a;", "x->a = -5;", "__int128 a;", "x->a == -5"),
    ("int a;", "x->a = 7;", "unsigned __int128 a;", "x->a == 7"),
    ("__int128 a;", "x->a = -5;", "__int128 a; int b;", "x->a == -5"),
    ("_Bool a;", "x->a = 1;", "int a;", "x->a == 1"),
    ("int a : 5;", "x->a = -3;", "int a;", "x->a == -3"),
    ("unsigned a : 5, b : 27;", "x->a = 21; x->b = 100000;", "unsigned b : 30; unsigned long a : 40;",
     "x->a == 21 && x->b == 100000"),
    ("float a;", "x->a = 1.5f;", "double a;", "x->a == 1.5"),
    ("double a;", "x->a = 1.5;", "long double a;", "x->a == 1.5L"),
    ("double a;", "x->a = 18446744073709549568.0;", "unsigned long a;", "x->a == 18446744073709549568UL"),
    ("_Float16 a; int b;", "x->a = 1.5;", "_Float16 a; long b;", "x->a == (_Float16)1.5"),
    ("int a[3][3];", "EACH(3, 3) x->a[i][j] = 10 * i + j;", "int a[4][4];",
     "x->a[0][2] == 2 && x->a[1][0] == 10 && x->a[2][2] == 22 && !x->a[0][3] && !x->a[3][3]"),
    ("char a[3][4];", "strcpy(x->a[0], \"abc\"); strcpy(x->a[2], \"def\");", "char a[3][9];",
     "!strcmp(x->a[0], \"abc\") && !strcmp(x->a[2], \"def\")"),
    ("int a[2][2][2];", "x->a[1][0][1] = 5;", "long a[3][2][4];", "x->a[1][0][1] == 5 && !x->a[1][0][0]"),
    ("int a[4][4];", "x->a[1][2] = 5;", "int a[2][3];", "x->a[1][2] == 5"),
    ("struct { int q; } s[2][2];", "EACH(2, 2) x->s[i][j].q = 10 * i + j;",
     "struct { long z; int q; } s[3][3];",
     "x->s[1][1].q == 11 && x->s[1][0].q == 10 && x->s[0][1].q == 1 && !x->s[2][2].q"),
    ("struct n *p[2][2];", "x->p[1][0] = x;", "struct n *p[3][3];", "x->p[1][0] == x && !x->p[0][2]"),
    ("int z; long t[2][3]; long *p;", "x->p = &x->t[1][1]; x->t[1][1] = 8;",
     "long q; long t[2][5]; long *p; int z;",
     "x->p == &x->t[1][1] && *x->p == 8"),
    ("union { int i; float f; } u;", "x->u.f = 1.5f;", "long b; union { int i; float f; } u;",
     "x->u.f == 1.5f"),
    ("union { int i; float f; } u;", "x->u.i = -7;", "union { int i; float f; char t[16]; } u;",
     "x->u.i == -7"),
    ("union { int i; float f; } u[2];", "x->u[1].f = 1.5f;", "union { int i; float f; } u[3];",
     "x->u[1].f == 1.5f"),
    ("struct { int a, b; };", "x->a = 1; x->b = 2;", "struct { int b; long a; };", "x->a == 1 && x->b == 2"),
    ("int m; union { long a; double d; } u[];", "x->u[1].a = 0x1122334455667700;",
     "long m; union { long a; double d; } u[];", "x->u[1].a == 0x1122334455667700"),
    ("long filler[4]; int t[];", "/* 16 bytes */", "long filler[5]; int t[];", "!x->filler[4]"),
    ("long h; char begin[0]; int y, z; int *p;", "x->z = 3; x->p = &x->z;",
     "long h; char begin[0]; long y; int z; int *p;", "x->p == &x->z && *x->p == 3"),
    ("int pad[3][0]; int y; int *p;", "x->y = 4; x->p = &x->y;", "long z; int pad[3][0]; int y; int *p;",
     "x->p == &x->y && *x->p == 4"),
    ("_Atomic(struct at { int a, b; }) p;", "x->p = (struct at){1, 2};",
     "_Atomic(struct at { int b, a; }) p;", "({ struct at v = x->p; v.a == 1 && v.b == 2; })"),
    ("struct e { struct e *next; int k; }; long y; struct e in; struct e *p; int *q;",
     "x->in.k = 2; x->p = &x->in; x->q = &x->in.k;",
     "struct e { int k; struct e *next; }; long y; struct e in; struct e *p; int *q;",
     "x->p == &x->in && x->p->k == 2 && x->q == &x->in.k"),
    ("struct f { struct f *next; int k; }; struct { long y; struct f in; } s[2]; struct f *p;",
     "x->s[1].in.k = 2; x->p = &x->s[1].in;",
     "struct f { int k; struct f *next; }; struct { struct f in; long y; } s[3]; struct f *p;",
     "x->p == &x->s[1].in && x->p->k == 2"),
    ("union { struct { int __lock; unsigned __count; int __owner; unsigned __nusers; int __kind;"
     " short __spins, __elision; struct { struct n *__prev, *__next; } __list; } __data;"
     " char __size[40]; long __align; } m;", "", "pthread_mutex_t m; long z;", "1"),
    ("int k; union { NVM_WHEN(k, 1) struct n *p; long l; } u;", "x->k = 1; x->u.p = x;",
     "int z; long k; union { NVM_WHEN(k, 1) struct n *p; long l; } u;", "x->u.p == x && x->k == 1"),
]
REFUSED = [
    ("NVM_XOR_PTR struct n *link;", "", "struct n *link; long z;", "is made of two pointers in one of them"),
    ("union { struct { int a, b; } r[2]; long q[2]; } u;", "",
     "union { struct { int b, a; } r[2]; long q[2]; } u;", "share bytes, as members of a union"),
    ("int kind, mode; union { NVM_WHEN(kind, 1) struct n *p; long l; } u;", "",
     "int kind, mode; union { NVM_WHEN(mode, 1) struct n *p; long l; } u; int q;",
     "is a pointer under another condition"),
    ("int n; int t[][3];", "", "int n; int t[][4];", "an array of other dimensions"),
    ("struct e { struct e *next; int k; }; struct e in; struct e *p;", "x->p = &x->in;",
     "struct e { int k; struct e *next; }; struct e other; struct e *p;", "is only in the pool's"),
    ("unsigned char a;", "x->a = 253;", "signed char a;", "253 does not fit"),
    ("unsigned long a;", "x->a = -5UL;", "long a;", "18446744073709551611 does not fit"),
    ("double a;", "x->a = 1e300;", "long a;", "does not fit"),
    ("double a;", "x->a = __builtin_nan(\"\");", "long a;", "does not fit"),
    ("int a[4][4];", "x->a[1][3] = 5;", "int a[4][3];", "what elements hold for which there is no index"),
    ("int a[6];", "", "int a[2][5];", "an array of other dimensions"),
    ("int a[2][6];", "", "int a[12];", "an array of other dimensions"),
    ("__int128 a;", "", "long a;", "16 bytes in the pool's"),
    ("unsigned __int128 a;", "", "__int128 a;", "is unsigned in the pool's"),
    ("_BitInt(60) a;", "", "_BitInt(200) a;", "is bits60 in the pool's"),
    ("_BitInt(60) a;", "", "_BitInt(50) a;", "is bits60 in the pool's"),
    ("_Float16 a;", "", "float a;", "is half in the pool's"),
    ("__bf16 a;", "", "_Float16 a;", "is bfloat in the pool's"),
    ("double a;", "", "__float128 a;", "quad in the program's"),
    ("int a __attribute__((vector_size(16)));", "", "float a __attribute__((vector_size(16)));",
     "is vector-signed4"),
    ("float _Complex a;", "", "double _Complex a;", "is complex-float4 in the pool's"),
    ("union { int i; float f; } u;", "", "union { long i; double f; } u;",
     "share bytes, as members of a union"),
    ("union { int i; struct { short lo, hi; } s; } u;", "", "union { int i; struct { short hi, lo; } s; } u;",
     "share bytes, as members of a union"),
    ("union { struct { int a, b; } s; long l; };", "", "struct { int b, a; } s; long l;",
     "share bytes, as members of a union"),
    ("int k; union { NVM_WHEN(k, 1) struct n *p; long l; } u;", "",
     "int k; union { NVM_WHEN(k, 2) struct n *p; long l; } u; int q;",
     "is a pointer under another condition"),
]
HEAD = """#include <nvmove/nvmove.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#define EACH(n, m) for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
"""
OLD = """static int make%d(NVM_POOL *pool) {
  struct n%d *x = nvm_calloc(pool, NVM_TYPE_ID(struct n%d), 1, %s);
  x->id = 7, x->self = x;
  %s
  return nvm_pool_set_root(pool, x);
}
"""
NEW = """static int make%d(NVM_POOL *pool) {
  struct n%d *x = nvm_pool_root(pool);
  return !(x->id == 7 && x->self == x && (%s));
}
"""
MAIN = """int main(int argc, char **argv) {
  NVM_POOL *pool = %s;
  if (!pool) {
    puts(nvm_strerror());
    return 2;
  }
  %s
  int (*const all[])(NVM_POOL *) = {%s};
  int wrong = all[atoi(argv[1])](pool);
  return wrong || %s nvm_pool_close(pool);
}
"""


def program(path, cases, is_old):
    text = HEAD
    for number, (old, init, new, check) in enumerate(cases):
        member = (old if is_old else new).replace("struct n *", "struct n%d *" % number)
        for own in ("struct e ", "struct f ", "struct at "):
            member = member.replace(own, own[:-1] + "%d " % number)
            init, check = init.replace(own[:-1] + ")", own[:-1] + "%d)" % number), check.replace(
                own, own[:-1] + "%d " % number)
        text += "struct n%d {\n  long id;\n  struct n%d *self;\n  %s\n};\n" % (number, number, member)
        size = "16" if "16 bytes" in init else "sizeof *x + 64" if "[]" in old else "sizeof *x"
        text += OLD % (number, number, number, size, init) if is_old else NEW % (
            number, number, check if number < len(RIGHT) else "1")
    names = ", ".join("make%d" % n for n in range(len(cases)))
    if is_old:
        text += MAIN % ("nvm_pool_create(argv[2], 1 << 20)", "if (nvm_tx_begin(pool))\n    return 3;", names,
                        "nvm_tx_commit(pool) ||")
    else:
        text += MAIN % ("nvm_pool_open(argv[2])", "", names, "")
    with open(path, "w") as f:
        f.write(text)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout.strip()


def judge(nvmove, folder, number, case, is_right):
    """Empty: as it should be."""
    pool, made = os.path.join(folder, "pool"), os.path.join(folder, "made")
    for path in (pool, made):
        if os.path.exists(path):
            os.remove(path)
    status, said = run(os.path.join(folder, "old"), str(number), pool)
    if status:
        return "the pool was not made: " + said
    status, said = run(os.path.join(folder, "new"), str(number), pool)
    if status != 2:
        return "the program opened a pool of the other type"
    status, said = run(nvmove, "pool", "convert", pool, made, "--layouts", os.path.join(folder, "new"))
    if not is_right:
        return "" if status == 2 and case[3] in said else "not refused: " + said
    if status:
        return "refused: " + said
    status, said = run(os.path.join(folder, "new"), str(number), made)
    return "another value" if status else ""


def main():
    nvmove, compiler, folder = sys.argv[1:]
    cases, wrong = RIGHT + REFUSED, 0
    os.makedirs(folder, exist_ok=True)
    for name in ("old", "new"):
        source = os.path.join(folder, name + ".c")
        program(source, cases, name == "old")
        status, said = run(compiler, "-O1", "-w", source, "-o", os.path.join(folder, name))
        if status:
            sys.exit(said)
    for number, case in enumerate(cases):
        said = judge(nvmove, folder, number, case, number < len(RIGHT))
        if said:
            print("%s -> %s: %s" % (case[0], case[2], said))
            wrong += 1
    print("%d right, %d refused as they should be, %d wrong" % (len(RIGHT), len(REFUSED), wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
