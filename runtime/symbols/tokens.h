/* tokens.h: numbers that stand for entries of the table of static data, in the words of a pool whose
 * pointers are bound anew (statics.h).
 *
 * No address of a process is one, since those have none of the highest 17 bits. A token lies in the
 * bits that the field's tag (NVM_TAGGED_PTR) leaves: the lowest of them have the number, the rest a
 * pattern with all of the highest 17 that are left.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether the tag leaves enough to tell tokens from addresses. */
bool nvmi_token_fits(uint64_t tag);

uint64_t nvmi_token(uint64_t tag, uint32_t entry);

/* Whether a word without its tag is the token of an entry. */
bool nvmi_token_is(uint64_t tag, uint64_t value, uint32_t *entry);
