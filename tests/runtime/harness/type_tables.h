/* type_tables.h: the tables of types that nvmove-cc emits, by hand, for tests built without it. */
#pragma once

#include "nvmove/abi.h"

#include <stddef.h>

/* A member of struct `record`: a word, or an array of words, of this kind. What else a field has, with
 * designators, may follow. */
#define TEST_FIELD(record, member, what, ...)                                                      \
  {.name = #member,                                                                                \
   .offset = offsetof(struct record, member),                                                      \
   .count = sizeof(((struct record *)NULL)->member) / 8,                                           \
   .stride = 8,                                                                                    \
   .kind = what,                                                                                   \
   __VA_ARGS__}

/* A member of struct `record` whose bytes are volatile. */
#define TEST_VOLATILE(record, member)                                                              \
  {.name = #member,                                                                                \
   .offset = offsetof(struct record, member),                                                      \
   .count = sizeof(((struct record *)NULL)->member),                                               \
   .stride = 1,                                                                                    \
   .kind = NVM_FIELD_VOLATILE}

/* The flexible array at the end of struct `record`, of elements of the type `element`. */
#define TEST_TAIL(record, member, element)                                                         \
  {.name = #member,                                                                                \
   .target = element,                                                                              \
   .offset = offsetof(struct record, member),                                                      \
   .stride = sizeof(((struct record *)NULL)->member[0]),                                           \
   .kind = NVM_FIELD_FLEXIBLE_ARRAY}

/* struct `record`, with the fields in the array `list`. */
#define TEST_TYPE(number, record, list)                                                            \
  {.id = number,                                                                                   \
   .name = "struct " #record,                                                                      \
   .members = "",                                                                                  \
   .size = sizeof(struct record),                                                                  \
   .alignment = 8,                                                                                 \
   .field_count = sizeof(list) / sizeof *(list),                                                   \
   .fields = list}

/* A pointer to struct `record`, which has the number `to`; 0: not described. */
#define TEST_POINTER(number, record, to)                                                           \
  {                                                                                                \
    .id = number, .name = "struct " #record " *", .members = "", .size = 8, .alignment = 8,        \
    .field_count = 1, .fields = &(const struct nvm_field) {                                        \
      .name = "", .target = to, .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER                 \
    }                                                                                              \
  }

/* The program has these types: pointers to struct nvm_type. */
#define TEST_TYPES(name, ...)                                                                      \
  __attribute__((section(NVM_TYPES_SECTION), used)) static const struct nvm_type *const name[] = { \
      __VA_ARGS__}
