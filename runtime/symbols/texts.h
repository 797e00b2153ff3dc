/* texts.h: string constants, known by their bytes alone (symbols.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the string begins that a byte between `start` and `end` is of, in memory that holds nothing
 * but strings; null: it has no end there, or is too long to note. */
const char *nvmi_string_around(const char *at, const char *start, const char *end);

/* The first place from `at` on that has these bytes before `end`; null: none. `size` is not 0. */
const char *nvmi_find_bytes(const char *at, const char *end, const char *text, size_t size);

/* As strlen, strcpy, strcmp, of a text that may lie where only code without AddressSanitizer reads:
 * behind the end of a constant. `nvmi_text_copy` gives its length. */
size_t nvmi_text_length(const char *text);
size_t nvmi_text_copy(char *to, const char *text);
bool nvmi_text_is(const char *text, const char *other);
