/* records.h: what a program of records.py says of its types; records.c fills and looks at them. */
#pragma once

#include "nvmove/inspect.h"
#include "nvmove/nvmove.h"

#include <stddef.h>
#include <stdint.h>

typedef struct node {
  struct node *next;
  long value;
} node;

/* What a leaf holds (shapes.py). */
enum kind { POINTER, WEAK, FUNCTION, CONSTANT, NUMBER, EITHER, DORMANT, UNDECIDED };

/* A word of a record. */
struct leaf {
  const char *path;
  size_t offset; /* bytes */
  enum kind kind;
  uint64_t tag; /* bits that are no address */
};

/* Records of one type, one behind the other, in one block. */
struct object {
  uint64_t (*type)(void);
  size_t size; /* of a record, bytes */
  unsigned records;
  size_t bytes; /* that are asked for; 0: up to the end of the last leaf */
  const struct leaf *leaves;
  unsigned leaf_count;
  void (*decide)(void *record); /* sets the members that decide */
  /* Makes sleeping words pointers: those of decider `which`. 0: there is none. */
  int (*waken)(void *record, unsigned which);
};

extern const struct object objects[];
extern const unsigned object_count;
