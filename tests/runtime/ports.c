/* ports.c: the start of a ported program (runtime/port.h): what its roots are before the load,
 * which path it is told, where it forks. Each start is a process of its own.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "store.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVER = 6001, ITEM = 6003, LINK = 6005 };

struct item {
  struct item *next;
  uint64_t number, seen; /* seen: volatile */
};
static struct server {
  void *log;                /* volatile */
  uint64_t count, clock[2]; /* clock: volatile */
  struct item *first;
} server;
static struct item *newest;

#define FIELD(record, member, to, many, what)                                                      \
  {.name = #member,                                                                                \
   .target = to,                                                                                   \
   .offset = offsetof(struct record, member),                                                      \
   .count = many,                                                                                  \
   .stride = 8,                                                                                    \
   .kind = what}
static const struct nvm_field item_fields[] = {FIELD(item, next, ITEM, 1, NVM_FIELD_POINTER),
                                               FIELD(item, seen, 0, 1, NVM_FIELD_VOLATILE)};
static const struct nvm_field server_fields[] = {FIELD(server, log, 0, 1, NVM_FIELD_VOLATILE),
                                                 FIELD(server, clock, 0, 2, NVM_FIELD_VOLATILE),
                                                 FIELD(server, first, ITEM, 1, NVM_FIELD_POINTER)};
static const struct nvm_field link_fields[] = {{"", ITEM, 0, 0, 1, 8, NVM_FIELD_POINTER, NULL}};
#define TYPE(name, number, record, members)                                                        \
  static const struct nvm_type name##_type = {number, #record, "",           sizeof(record),       \
                                              8,      members, name##_fields};                     \
  __attribute__((section(NVM_TYPES_SECTION),                                                       \
                 used)) static const struct nvm_type *const name##_described = &name##_type;
TYPE(item, ITEM, struct item, 2)
TYPE(server, SERVER, struct server, 3)
TYPE(link, LINK, struct item *, 1)

static const struct nvm_root server_root = {"server", "", &server, sizeof server, SERVER, 0};
static const struct nvm_root newest_root = {"newest", "", &newest, sizeof newest, LINK, 0};
static const struct nvm_root *const all_roots[] = {&server_root, &newest_root};

static struct item *make(uint64_t number) {
  __nvm_placing = (struct nvm_place){ITEM, NVM_SCOPE_POOL};
  struct item *made = __nvm_port_calloc(1, sizeof *made);
  __nvm_placing.scope = 0;
  CHECK(made);
  struct item filled = {server.first, number, number};
  store_bytes(made, &filled, sizeof filled);
  return made;
}

static void add(void) {
  server.first = newest = make(++server.count);
  __nvm_commit_point();
}

static void start(void) {
  setenv("NVMOVE_POOL", test_path("pool"), 1);
  __nvm_describe_roots(all_roots, all_roots + 2);
}

static void fill(void *unused) {
  (void)unused;
  start();
  server.log = &server;
  server.clock[1] = 5;
  CHECK(__nvm_load_begin() == 0);
  add();
  __nvm_load_end();
  add();
}

static void first_start(void) { CHECK(test_child(NULL, fill, NULL) == 0); }

static bool has_both(void) {
  return server.count == 2 && server.first == newest && newest->number == 2 &&
         newest->next->number == 1 && !newest->next->next;
}

/* What a root leads to before the load may be no block, or none of the port's own. */
static void start_with(void *address) {
  start();
  newest = address;
  CHECK(__nvm_load_begin() == 1);
  CHECK(has_both() && newest->seen == 2);
}

static void start_with_block(void *unused) {
  (void)unused;
  struct item *block = malloc(sizeof *block);
  CHECK(block);
  *block = (struct item){NULL, 9, 9};
  start_with(block + 1); /* right behind it */
}

static void start_with_own(void *unused) {
  (void)unused;
  start();
  newest = server.first = make(9);
  CHECK((uintptr_t)newest >> NVM_RANGE_SHIFT != NVM_RANGE_TAG);
  struct item *others = make(8);
  newest = __nvm_port_realloc(others, 4000);
  CHECK(newest);
  newest->seen = 7;
  CHECK(__nvm_load_begin() == 1);
  CHECK(has_both() && newest->seen == 7); /* the later root's */
}

TEST_ONCE(port_root_leads_anywhere_before_the_load) {
  static char text[16];
  first_start();
  char on_stack[64] = {0};
  CHECK(test_child(NULL, start_with, (void *)-1) == 0);
  CHECK(test_child(NULL, start_with, (void *)0x10) == 0);
  CHECK(test_child(NULL, start_with, text) == 0);
  CHECK(test_child(NULL, start_with, on_stack + 1) == 0);
  CHECK(test_child(NULL, start_with_block, NULL) == 0);
  CHECK(test_child(NULL, start_with_own, NULL) == 0);
  test_check_pool(test_path("pool"));
}

static void abort_one(void) {
  CHECK(nvm_tx_begin(nvm_pool_attached()) == 0);
  server.count = 77;
  server.clock[0] = 4;
  CHECK(nvm_tx_abort(nvm_pool_attached()) == 0);
  CHECK(server.count == 3 && server.clock[0] == 4);
}

static void start_with_volatile(void *own) {
  start();
  server.log = own;
  server.clock[0] = 3;
  CHECK(__nvm_load_begin() == 1);
  CHECK(has_both());
  CHECK(server.log == own && server.clock[0] == 3 && server.clock[1] == 0);
  add();
  struct nvm_stats before, after;
  CHECK(nvm_pool_stats(nvm_pool_attached(), &before) == 0);
  server.clock[0]++; /* is nothing to save */
  __nvm_commit_point();
  CHECK(nvm_pool_stats(nvm_pool_attached(), &after) == 0 && after.commits == before.commits);
  abort_one();
}

TEST(port_root_keeps_its_volatile_fields) {
  first_start();
  CHECK(test_child(NULL, start_with_volatile, &newest) == 0);
  test_check_pool(test_path("pool"));
}
