// An answer leaves in the middle of a change: the change is made whole by 'atomic', the answer stays a commit
// point, and a question names its line.
//
// RUN: %plan --load load --save save %s -- | FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct account { struct account *next; char name[16]; long balance; };
static struct account *accounts;

static void reply(const char *text) {
  puts(text);
  fflush(stdout);
}

static struct account *account(const char *name) {
  for (struct account *a = accounts; a; a = a->next)
    if (!strcmp(a->name, name))
      return a;
  struct account *made = calloc(1, sizeof *made);
  strncpy(made->name, name, sizeof made->name - 1);
  made->next = accounts;
  return accounts = made;
}

static void transfer(const char *from, const char *to, long amount) {
  account(from)->balance -= amount;
  reply("taken");
  account(to)->balance += amount;
  reply("given");
}

static void load(void) {
  FILE *f = fopen("accounts", "r");
  char name[16];
  long balance;
  while (f && fscanf(f, "%15s %ld", name, &balance) == 2)
    account(name)->balance = balance;
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

// CHECK: persistent:
// CHECK-NEXT: - account
// CHECK: # QUESTION: what these lines give out may leave before what it tells of is durable: amid-change.c:13
// CHECK: commit:
// CHECK-NEXT: - reply
// CHECK: atomic:
// CHECK-NEXT: - transfer
