/* type_match.c: what differs between two layouts of a type, in words (members: struct nvm_type). */
#include "types/type_match.h"

#include "types/types.h"

#include <stdio.h>
#include <string.h>

/* One line of `members`: its text without the name, and the name. */
struct member {
  char shape[64];
  const char *name;
  size_t length;
};

/* Where a record begins is no member. */
static bool is_member(const struct member *line) {
  size_t length = strlen(line->shape);
  return length < 5 || (strcmp(line->shape + length - 5, " part") != 0 &&
                        strcmp(line->shape + length - 5, " base") != 0);
}

/* Reads the line at `*at` and moves on. False at the end. */
static bool next_line(const char **at, struct member *member) {
  if (!**at)
    return false;
  const char *end = strchr(*at, '\n'), *start = *at;
  end = end ? end : start + strlen(start);
  const char *name = start;
  for (int words = 0; words < 3 && name < end; words += name[-1] == ' ')
    name++;
  size_t shape = name > start ? (size_t)(name - 1 - start) : 0;
  snprintf(member->shape, sizeof member->shape, "%.*s", (int)shape, start);
  member->name = name;
  member->length = (size_t)(end - name);
  *at = *end ? end + 1 : end;
  return true;
}

static bool next(const char **at, struct member *member) {
  while (next_line(at, member))
    if (is_member(member))
      return true;
  return false;
}

static bool find(const char *members, const struct member *wanted, struct member *found) {
  while (next(&members, found))
    if (found->length == wanted->length && memcmp(found->name, wanted->name, wanted->length) == 0)
      return true;
  return false;
}

/* "8 4 signed": in words. */
static void describe(const struct member *member, char *text, size_t size) {
  char offset[24], bytes[24], kind[24];
  if (sscanf(member->shape, "%23s %23s %23s", offset, bytes, kind) == 3)
    snprintf(text, size, "%s of %s bytes at %s", kind, bytes, offset);
  else
    snprintf(text, size, "%s", member->shape);
}

static bool differ_in_member(const char *ours, const char *theirs, bool is_pools, char *line,
                             size_t size) {
  struct member member, other;
  char here[96], there[96];
  while (next(&ours, &member)) {
    if (!find(theirs, &member, &other)) {
      snprintf(line, size, "field %.*s is only in the %s", (int)member.length, member.name,
               is_pools ? "pool's" : "program's");
      return true;
    }
    if (strcmp(member.shape, other.shape) == 0)
      continue;
    describe(&member, here, sizeof here);
    describe(&other, there, sizeof there);
    snprintf(line, size, "field %.*s is %s there, %s here", (int)member.length, member.name, here,
             there);
    return true;
  }
  return false;
}

static bool same_word(const struct nvm_field *a, const struct nvm_field *b) {
  return a->offset == b->offset && a->count == b->count && a->stride == b->stride &&
         a->kind == b->kind && a->tag == b->tag && !a->when == !b->when;
}

void nvmi_type_difference(const struct nvm_type *pools, const struct nvm_type *programs, char *line,
                          size_t size) {
  if (differ_in_member(pools->members, programs->members, true, line, size) ||
      differ_in_member(programs->members, pools->members, false, line, size))
    return;
  for (uint32_t i = 0; i < pools->field_count && i < programs->field_count; i++)
    if (!same_word(&pools->fields[i], &programs->fields[i])) {
      snprintf(line, size, "field %s points to something else, or is marked otherwise",
               pools->fields[i].name);
      return;
    }
  snprintf(line, size, "it has %llu bytes there, %llu here, or its pointers lead elsewhere",
           (unsigned long long)pools->size, (unsigned long long)programs->size);
}
