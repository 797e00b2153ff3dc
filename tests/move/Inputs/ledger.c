/* Accounts, in a list. Commands: pay NAME N, list. It reads and, at its end, writes the file "ledger.txt". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct account {
  struct account *next;
  long balance;
  char name[16];
};
struct account *accounts;
long paid;

static struct account *find(const char *name) {
  for (struct account *at = accounts; at; at = at->next)
    if (!strcmp(at->name, name))
      return at;
  struct account *made = calloc(1, sizeof *made);
  strncpy(made->name, name, sizeof made->name - 1);
  made->next = accounts;
  return accounts = made;
}

static void pay(const char *name, long amount) {
  find(name)->balance += amount;
  paid += amount;
}

static void load(void) {
  char name[16];
  long amount;
  FILE *file = fopen("ledger.txt", "r");
  while (file && fscanf(file, "%15s %ld", name, &amount) == 2)
    pay(name, amount);
  if (file)
    fclose(file);
}

static void answer(const char *text) {
  fputs(text, stdout);
  fflush(stdout);
}

static void list(void) {
  char text[4096];
  int length = sprintf(text, "paid %ld", paid);
  for (struct account *at = accounts; at; at = at->next)
    length += sprintf(text + length, ", %s %ld", at->name, at->balance);
  sprintf(text + length, "\n");
  answer(text);
}

static void finish(void) {
#ifdef FREES
  for (struct account *next; accounts; accounts = next) {
    next = accounts->next;
    free(accounts);
  }
  paid = 0;
#endif
}

int main(void) {
  char line[100], name[16];
  long amount;
#ifdef LATE
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
#endif
  load();
  while (fgets(line, sizeof line, stdin))
    if (sscanf(line, "pay %15s %ld", name, &amount) == 2) {
      pay(name, amount);
      answer("paid\n");
    } else if (!strncmp(line, "list", 4)) {
      list();
    } else if (!strncmp(line, "quit", 4)) {
      break;
    } else {
      answer("what?\n");
    }
  finish();
  return 0;
}
