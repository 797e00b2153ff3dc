/* pointer.h: a type with one pointer, which no library of the test program describes before. */
#pragma once

#include "harness.h"
#include "store.h"

enum { POINTER_ID = 7441 };

struct pointer {
  void *to;
  uint64_t number;
};

static inline void describe_pointer(void) {
  static const struct nvm_field fields[] = {
      {.name = "to", .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER}};
  static const struct nvm_type type = {.id = POINTER_ID,
                                       .name = "struct pointer",
                                       .members = "",
                                       .size = sizeof(struct pointer),
                                       .alignment = 8,
                                       .field_count = 1,
                                       .fields = fields};
  const struct nvm_type *types[] = {&type};
  __nvm_describe(types, types + 1);
}
