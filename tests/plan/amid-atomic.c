// An atomic function changes by calls, and answers itself behind them: its answer leaves before its end makes
// the change durable. A question names the line.
//
// RUN: %plan --load load --save save %s -- | FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct account { struct account *next; char name[16]; long balance; };
static struct account *accounts;

static void tell(const char *text) {
  puts(text);
  fflush(stdout);
}

static void add(const char *name, long amount) {
  for (struct account *a = accounts; a; a = a->next)
    if (!strcmp(a->name, name)) {
      a->balance += amount;
      return;
    }
  struct account *made = calloc(1, sizeof *made);
  strncpy(made->name, name, sizeof made->name - 1);
  made->balance = amount;
  made->next = accounts;
  accounts = made;
}

static void transfer(const char *from, const char *to, long amount) {
  add(from, -amount);
  tell("log: taken");
  add(to, amount);
  puts("transferred");
  fflush(stdout);
}

static void load(void) {
  FILE *f = fopen("accounts", "r");
  char name[16];
  long balance;
  while (f && fscanf(f, "%15s %ld", name, &balance) == 2)
    add(name, balance);
}

static void save(void) {
  FILE *f = fopen("accounts", "w");
  for (struct account *a = accounts; f && a; a = a->next)
    fprintf(f, "%s %ld\n", a->name, a->balance);
}

int main(void) {
  char from[16], to[16];
  long amount;
  load();
  while (scanf("%15s %15s %ld", from, to, &amount) == 3)
    transfer(from, to, amount);
  save();
}

// CHECK: # QUESTION: what these lines give out may leave before what it tells of is durable:
// CHECK-NEXT: # {{.*}}amid-atomic.c:13, amid-atomic.c:34
// CHECK: atomic:
// CHECK-NEXT: - transfer
