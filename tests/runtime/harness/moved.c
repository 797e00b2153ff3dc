/* moved.c: see moved.h. Types are described by hand, as nvmove-cc would. */
#include "moved.h"

#include "store.h"
#include "type_tables.h"

#include <stddef.h>
#include <string.h>

enum { ITEM_ID = 2001, NODE_ID, TABLE_ID, RAW_ID, ODD_ID, PACKED_ID };
enum kind { NOTHING, NODE = 5, NUMBER = 6, DEPENDS = 3 };
enum { TAG = 0x5 };
#define HIGH_TAG (UINT64_C(0xab) << 56)

struct item {
  uint32_t kind;
  union {
    struct node *node;
    uint64_t number;
  } is[2];
};

struct node {
  uint64_t key;
  struct node *next, *previous; /* previous: weak */
  uintptr_t tagged, both, either[2];
  unsigned low : 3, kind : 4;
  void *depends; /* a pointer when kind is DEPENDS */
  void *end;     /* behind the last byte of the item table */
  struct item *items;
  char text[20];
};

struct table {
  uint64_t count;
  struct item inner;
  struct item tail[];
};

struct odd {
  uint64_t hash;
  union {
    void *pointer;
    uint64_t number;
  } guess;
};

struct __attribute__((packed)) packed {
  char c;
  void *pointer;
};

static const int64_t node_kinds[] = {NODE}, depends_kinds[] = {DEPENDS};
static const struct nvm_when item_when = {
    .offset = offsetof(struct item, kind), .bits = 32, .count = 1, .values = node_kinds};
static const struct nvm_when depends_when = {
    .offset = 56, .first_bit = 3, .bits = 4, .count = 1, .values = depends_kinds};

static const struct nvm_field item_fields[] = {
    TEST_FIELD(item, is, NVM_FIELD_POINTER, .when = &item_when)};
static const struct nvm_field node_fields[] = {
    TEST_FIELD(node, next, NVM_FIELD_POINTER),
    TEST_FIELD(node, previous, NVM_FIELD_WEAK_POINTER),
    TEST_FIELD(node, tagged, NVM_FIELD_POINTER, .tag = TAG | HIGH_TAG),
    TEST_FIELD(node, both, NVM_FIELD_XOR),
    TEST_FIELD(node, either, NVM_FIELD_EITHER),
    TEST_FIELD(node, depends, NVM_FIELD_POINTER, .when = &depends_when),
    TEST_FIELD(node, end, NVM_FIELD_POINTER),
    TEST_FIELD(node, items, NVM_FIELD_POINTER),
    {.name = "text",
     .offset = offsetof(struct node, text),
     .count = 20,
     .stride = 1,
     .kind = NVM_FIELD_VOLATILE}};
static const struct nvm_field table_fields[] = {TEST_FIELD(table, inner.is, NVM_FIELD_UNION),
                                                TEST_TAIL(table, tail, ITEM_ID)};
static const struct nvm_field odd_fields[] = {TEST_FIELD(odd, hash, NVM_FIELD_ADDRESS),
                                              TEST_FIELD(odd, guess, NVM_FIELD_UNION)};
static const struct nvm_field packed_fields[] = {TEST_FIELD(packed, pointer, NVM_FIELD_POINTER)};
static const struct nvm_type item_type = TEST_TYPE(ITEM_ID, item, item_fields),
                             node_type = TEST_TYPE(NODE_ID, node, node_fields),
                             table_type = TEST_TYPE(TABLE_ID, table, table_fields),
                             odd_type = TEST_TYPE(ODD_ID, odd, odd_fields),
                             packed_type = TEST_TYPE(PACKED_ID, packed, packed_fields),
                             raw_type = {.id = RAW_ID, .name = "char", .members = "", .size = 1};
TEST_TYPES(described, &item_type, &node_type, &table_type, &odd_type, &packed_type, &raw_type);
_Static_assert(offsetof(struct node, depends) == 64, "what decides lies in the word before");

struct root {
  struct node *first;
  struct table *table;
  char *text; /* of addresses, which are only bytes there */
};
enum { ROOT_ID = 2010, ITEMS = 5, TAIL = 7, TEXT = 80000 };
static const struct nvm_field root_fields[] = {TEST_FIELD(root, first, NVM_FIELD_POINTER),
                                               TEST_FIELD(root, table, NVM_FIELD_POINTER),
                                               TEST_FIELD(root, text, NVM_FIELD_POINTER)};
static const struct nvm_type root_type = TEST_TYPE(ROOT_ID, root, root_fields);
TEST_TYPES(described2, &root_type);

static void fill_items(struct item *items, unsigned count, struct node *node) {
  for (unsigned i = 0; i < count; i++) {
    struct item item = {.kind = i % 2 ? NODE : NUMBER};
    item.is[0].number = i % 2 ? (uintptr_t)node : moved_base(3) + i; /* looks like an address */
    item.is[1].number = i % 2 ? 0 : (uintptr_t)node;
    store_bytes(&items[i], &item, sizeof item);
  }
}

/* What a number that looked like an address was; it must not have moved with the pool. */
static void check_items(const struct item *items, unsigned count, const struct node *node,
                        uint64_t born) {
  for (unsigned i = 0; i < count; i++) {
    CHECK(items[i].kind == (i % 2 ? NODE : NUMBER));
    CHECK(items[i].is[0].number == (i % 2 ? (uintptr_t)node : moved_base(3) + i));
    CHECK(items[i].is[1].number ==
          (i % 2 ? 0 : (uintptr_t)node - (uintptr_t)nvm_pool_base(nvm_pool_of(node)) + born));
  }
}

static struct node *make_node(NVM_POOL *pool, unsigned key, struct node *next, struct root *root) {
  struct node *node = nvm_calloc(pool, NODE_ID, 1, sizeof *node);
  struct item *items = nvm_alloc(pool, ITEM_ID, ITEMS * sizeof *items);
  CHECK(node && items);
  fill_items(items, ITEMS, node);
  struct node made = {.key = key,
                      .next = next,
                      .tagged = (uintptr_t)root | TAG | HIGH_TAG,
                      .both = (uintptr_t)next ^ (key % 3 ? (uintptr_t)node : 0),
                      .either = {(uintptr_t)items, key},
                      .low = key % 8,
                      .kind = key % 2 ? DEPENDS : NUMBER,
                      .depends = key % 2 ? (void *)&node->text : (void *)(uintptr_t)key,
                      .end = items + ITEMS,
                      .items = &items[key % ITEMS]};
  snprintf(made.text, sizeof made.text, "node %u", key);
  store_bytes(node, &made, sizeof made);
  if (next)
    STORE(next->previous, node);
  return node;
}

void moved_fill(NVM_POOL *pool, unsigned nodes) {
  CHECK(nvm_tx_begin(pool) == 0);
  struct root *root = nvm_calloc(pool, ROOT_ID, 1, sizeof *root);
  struct node *first = NULL;
  for (unsigned key = 0; key < nodes; key++)
    first = make_node(pool, key, first, root);
  struct table *table = nvm_calloc(pool, TABLE_ID, 1, sizeof *table + TAIL * sizeof(struct item));
  char *text = nvm_alloc(pool, RAW_ID, TEXT);
  CHECK(table && text);
  STORE(table->count, (uint64_t)(uintptr_t)nvm_pool_base(pool)); /* where it was born: a number */
  fill_items(table->tail, TAIL, first);
  __nvm_note(text, TEXT);
  for (size_t at = 0; at + 8 <= TEXT; at += 8)
    memcpy(text + at, &first, 8);
  STORE(root->first, first);
  STORE(root->table, table);
  STORE(root->text, text);
  CHECK(nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
}

static void check_node(const struct node *node, unsigned key, const struct root *root,
                       uint64_t born) {
  char text[20] = {0};
  snprintf(text, sizeof text, "node %u", key);
  const struct item *items = node->items - key % ITEMS;
  CHECK(node->key == key && memcmp(node->text, text, sizeof text) == 0);
  CHECK(!node->next == !key && (!node->next || node->next->previous == node));
  CHECK(node->tagged == ((uintptr_t)root | TAG | HIGH_TAG));
  CHECK(node->both == ((uintptr_t)node->next ^ (key % 3 ? (uintptr_t)node : 0)));
  CHECK(node->either[0] == (uintptr_t)items && node->either[1] == key);
  CHECK(node->low == key % 8 && node->kind == (key % 2 ? DEPENDS : NUMBER));
  CHECK(node->depends == (key % 2 ? (const void *)&node->text : (void *)(uintptr_t)key));
  CHECK(node->end == items + ITEMS);
  check_items(items, ITEMS, node, born);
}

void moved_verify(NVM_POOL *pool, unsigned nodes) {
  const struct root *root = nvm_pool_root(pool);
  CHECK(root && nvm_pool_of(root) == pool);
  uint64_t born = root->table->count;
  const struct node *node = root->first;
  for (unsigned key = nodes; key-- > 0; node = node->next) {
    CHECK(node && nvm_pool_of(node) == pool);
    check_node(node, key, root, born);
  }
  CHECK(!node);
  check_items(root->table->tail, TAIL, root->first, born);
  uint64_t first = (uintptr_t)root->first - (uintptr_t)nvm_pool_base(pool) + born, word;
  for (size_t at = 0; at + 8 <= TEXT; at += 8) {
    memcpy(&word, root->text + at, 8);
    CHECK(word == first);
  }
}

void moved_verify_file(const char *path, unsigned nodes, uint64_t base) {
  NVM_POOL *pool = nvm_pool_open_at(path, (void *)(uintptr_t)base);
  if (!pool)
    test_fail(__FILE__, __LINE__, nvm_strerror());
  CHECK(!base || (uintptr_t)nvm_pool_base(pool) == base);
  moved_verify(pool, nodes);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

void moved_obstruct(NVM_POOL *pool, enum moved_obstacle what) {
  struct root *root = nvm_pool_root(pool);
  void *pointer = root->first;
  CHECK(nvm_tx_begin(pool) == 0);
  struct odd *odd = nvm_calloc(pool, ODD_ID, 1, sizeof *odd);
  struct packed *packed = nvm_calloc(pool, PACKED_ID, 1, sizeof *packed);
  char *raw = nvm_calloc(pool, 0, 1, 100);
  switch (what) {
  case MOVED_UNION:
    STORE(odd->guess.pointer, pointer);
    break;
  case MOVED_UNION_SMALL:
    STORE(odd->guess.number, 12345);
    break;
  case MOVED_UNTYPED:
    store_bytes(raw + 13, &pointer, sizeof pointer);
    break;
  case MOVED_PLAIN:
    store_bytes(raw + 13, "only words", 11);
    break;
  case MOVED_HASH:
    STORE(odd->hash, (uintptr_t)pointer * 31);
    break;
  case MOVED_UNALIGNED:
    store_bytes(&packed->pointer, &pointer, sizeof pointer);
    break;
  }
  CHECK(nvm_tx_commit(pool) == 0);
}
