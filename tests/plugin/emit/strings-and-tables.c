// A string constant is known by its bytes, all of them: what is no plain string is not taken for the one that it begins
// with. After a rebuild each pointer leads to the same constant, or the opening is refused.
// RUN: rm -rf %t && mkdir %t
// RUN: cd %t && %cc -O1 %s -o first && ./first pool && ./first pool
// RUN: cd %t && %cc -O0 -DMORE %s -o second && ./second pool && ./first pool && ./second pool
// RUN: cd %t && %cc -O2 -DMORE -no-pie -fno-pie %s -o third && ./third pool && ./first pool
// RUN: cd %t && %cc -O2 -flto -fuse-ld=lld -DMORE %s -o lto && ./lto pool && ./first pool
// RUN: cd %t && %cc -O2 -flto=thin -fuse-ld=lld %s -o thin && ./thin pool && ./first pool
// RUN: cd %t && %cc -O1 -fuse-ld=lld -Wl,-O2 -DMORE %s -o tails && ./tails pool && ./first pool
// From and to a program with AddressSanitizer, which gives strings names of its own and room around them.
// RUN: cd %t && %cc -O1 -fsanitize=address -DMORE %s -o asan && ./asan pool && ./first pool
// RUN: cd %t && ./asan asan.pool && %cc -O1 -fsanitize=address %s -o other && ./other asan.pool && ./first asan.pool
// What is gone is named.
// RUN: cd %t && %cc -O1 -DWIDE='L"XYZ"' %s -o gone && %exit 1 ./gone pool 2>&1 | FileCheck --check-prefix=WIDE %s
// WIDE: field wide of struct texts points to a constant without a name in the source, which the program lacks
// RUN: cd %t && %cc -O1 -DPAIR='"key\0other"' %s -o gone && %exit 1 ./gone pool 2>&1 | FileCheck --check-prefix=PAIR %s
// PAIR: field pair of struct texts points to a constant without a name
// RUN: cd %t && %cc -O1 -DTEXT='"another text"' %s -o gone && %exit 1 ./gone pool 2>&1 | FileCheck --check-prefix=TEXT %s
// TEXT: points to the text "{{.*}}", which the program lacks
// Stripped, a string is still one, and other constants are known to the same build only.
// RUN: cd %t && %cc -O1 -s %s -o stripped && ./stripped s.pool && ./stripped s.pool && ./stripped strings.pool strings
// RUN: cd %t && %exit 1 ./first s.pool 2>&1 | FileCheck --check-prefix=STRIPPED %s
// STRIPPED: points to nameless data of another build of the program
// RUN: cd %t && ./first strings.pool strings && %cc -O1 -s -DMORE %s -o stripped.2 && ./stripped.2 strings.pool strings
// RUN: cd %t && %exit 1 ./stripped.2 s.pool 2>&1 | FileCheck --check-prefix=STRIPPED %s
// Local symbols alone removed.
// RUN: cd %t && %cc -O1 -Wl,-x %s -o locals && ./locals l.pool && %exit 1 ./first l.pool 2>&1 | FileCheck --check-prefix=STRIPPED %s
// In another file now.
// RUN: cd %t && echo '#include <wchar.h>' > wide.c && echo 'const wchar_t *other(void) { return L"ABC"; }' >> wide.c
// RUN: cd %t && %cc -O1 wide.c -c -o wide.o && %cc -O1 -DWIDE='L"XYZ"' -DWITH_OTHER %s -c -o rest.o
// RUN: cd %t && ./first w.pool wide && %cc rest.o wide.o -o elsewhere && ./elsewhere w.pool wide
// What other compilers made says of no constant that it is a string.
// RUN: cd %t && clang-19 -O1 -DOTHER -c %s -o o.o && %cc -O1 %s o.o -DWITH_OTHER -o with.1 && %cc -O1 -DMORE %s o.o -DWITH_OTHER -o with.2
// RUN: cd %t && ./with.1 o.pool && ./with.1 o.pool && %exit 1 ./with.2 o.pool 2>&1 | FileCheck --check-prefix=STRIPPED %s
#include <wchar.h>
#ifdef OTHER
const wchar_t *other(void) { return L"their own"; }
#else
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>

#ifndef WIDE
#define WIDE L"ABC"
#endif
#ifndef PAIR
#define PAIR "key\0value"
#endif
#ifndef TEXT
#define TEXT "a constant text"
#endif

struct texts {
  const char *text, *inside, *end, *empty, *tail, *odd;
  const wchar_t *wide, *other;
  const char *pair, *name;
  const int *table;
};

#ifdef MORE
// In the places of others, and what these begin with.
int padding(int n) { return n < 2 ? 1 : padding(n - 1) * padding(n - 2); }
static const int more_numbers[] = {1, 2, 3, 4};
const int *volatile numbers = more_numbers;
const char *volatile more[] = {"A", "key", "key\0 and others", "C", "onstant text", "xt", "name", "\001", "text"};
const wchar_t *volatile wide[] = {L"A", L"AB"};
#endif

#ifdef WITH_OTHER
const wchar_t *other(void);
#else
static const wchar_t *other(void) { return NULL; }
#endif

static const int table[] = {65, 66, 67, 68};

static struct texts wanted(void) {
  const char *text = TEXT;
  return (struct texts){.text = text,
                        .inside = text + 2,
                        .end = text + sizeof TEXT - 1,
                        .empty = "",
                        .tail = "ant text",
                        .odd = "\001\002 not printed \377",
                        .wide = WIDE,
                        .other = other(),
                        .pair = PAIR,
                        .name = __func__,
                        .table = table};
}

static int is_right(const struct texts *t) {
  const char *said = strcmp(t->text, TEXT) ? "text"
                     : t->inside != t->text + 2 || t->end != t->text + sizeof TEXT - 1 ? "inside"
                     : *t->empty ? "empty"
                     : strcmp(t->tail, "ant text") ? "tail"
                     : strcmp(t->odd, "\001\002 not printed \377") ? "odd"
                     : strcmp(t->name, "wanted") ? "name"
                     : t->wide && wcscmp(t->wide, WIDE) ? "wide"
                     : t->other && (wcslen(t->other) != 9 || t->other[8] != 110) ? "other"
                     : t->pair && memcmp(t->pair, PAIR, sizeof PAIR) ? "pair"
                     : t->table && memcmp(t->table, table, sizeof table) ? "table" : NULL;
  if (said)
    fprintf(stderr, "%s is wrong\n", said);
  return !said;
}

int main(int count, char **values) {
  NVM_POOL *pool = nvm_pool_open(values[1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(values[1], 1 << 20);
    nvm_tx_begin(pool);
    struct texts *made = nvm_calloc(pool, NVM_TYPE_ID(struct texts), 1, sizeof *made);
    *made = wanted();
    if (strcmp(values[count - 1], "strings") == 0)
      made->wide = NULL, made->pair = NULL, made->table = NULL;
    if (strcmp(values[count - 1], "wide") == 0)
      *made = (struct texts){.wide = made->wide};
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  const struct texts *texts = nvm_pool_root(pool);
  if (!texts->text)
    return wcslen(texts->wide) != 3 || texts->wide[0] != 'A' || texts->wide[2] != 'C';
  return !is_right(texts) ? 4 : nvm_pool_close(pool) != 0;
}
#endif
