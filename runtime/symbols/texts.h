/* texts.h: string constants of the program, known by their bytes alone (symbols.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that a string constant has, and nothing else: printed text, its spaces, UTF-8. */
bool nvmi_is_text(const char *at, const char *end);

/* The first place from `at` on that has these bytes before `end`; null: none. `size` is not 0. */
const char *nvmi_find_bytes(const char *at, const char *end, const char *text, size_t size);
